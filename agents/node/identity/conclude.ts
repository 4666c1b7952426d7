import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { differences } from '../../../lib/identity/identity.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { restartsPath } from '../../steps/steady-state.ts';
import type { IdentityContext } from './context.ts';
import { heldManifests } from './hold.ts';
import { endRequest, identityFolder, readRequest } from './request.ts';

/** Ends the request; the copies of manifests and volumes are deleted. */
export const conclude: StepBody<IdentityContext> = {
  name: 'conclude',
  leaves: 'no change under way, and the record of this one',
  touches: ['disk'],
  retries: true,
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await readRequest(paths)) === undefined,
  async run(context) {
    const { paths, request } = context;
    await rm(heldManifests(paths), { recursive: true, force: true });
    await rm(join(identityFolder(paths), 'volumes.json'), { force: true });
    await rm(restartsPath(context, 'sno-identity'), { force: true });
    await endRequest(paths);
    return done(differences(request.from, request.to).join('; '));
  },
};

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { differences } from '../../../lib/change/identity/identity.ts';
import { identityChange, identityStateFolder } from '../../../lib/change/identity/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import { restartsPath } from '../../steps/steady-state.ts';
import type { IdentityContext } from './context.ts';
import { heldManifests } from './hold.ts';

/** The record of the installation gets the present names; what it says about the past stays. */
async function rename({ paths, request: { to } }: IdentityContext): Promise<void> {
  // Also fields that this version does not know: only the names are replaced.
  const file = stateFile(paths.record, z.record(z.string(), z.unknown()), {
    damaged: 'none-if-read',
    mode: 0o644,
    isIndented: true,
  });
  const record = await file.read();
  if (record === undefined) return;
  const names = { cluster: `${to.clusterName}.${to.baseDomain}`, node: to.hostname };
  if (record.cluster === names.cluster && record.node === names.node) return;
  await file.write({ ...record, ...names });
}

/** Ends the request; the copies of manifests and volumes are deleted. */
export const concludeIdentity: StepBody<IdentityContext> = {
  name: 'conclude',
  leaves: 'no change under way, and the record of this one',
  touches: ['disk'],
  retries: true,
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await identityChange.read(paths)) === undefined,
  async run(context) {
    const { paths, request } = context;
    await rename(context);
    await rm(heldManifests(paths), { recursive: true, force: true });
    await rm(join(identityStateFolder(paths), 'volumes.json'), { force: true });
    await rm(restartsPath(context, 'sno-identity'), { force: true });
    await identityChange.end(paths, (it) => it);
    return done(differences(request.from, request.to).join('; '));
  },
};

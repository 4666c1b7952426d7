import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, parseJson } from '../../../lib/base/json.ts';
import { differences } from '../../../lib/change/identity/identity.ts';
import { identityChange, identityStateFolder } from '../../../lib/change/identity/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import { restartsPath } from '../../steps/steady-state.ts';
import type { IdentityContext } from './context.ts';
import { heldManifests } from './hold.ts';

/** The record of the installation gets the present names; what it says about the past stays. */
async function rename({ paths, request: { to } }: IdentityContext): Promise<void> {
  const record = parseJson((await readTextIfPresent(paths.record)) ?? '');
  if (!isRecord(record)) return;
  const names = { cluster: `${to.clusterName}.${to.baseDomain}`, node: to.hostname };
  if (record.cluster === names.cluster && record.node === names.node) return;
  const renamed = { ...record, ...names };
  await writeFileAtomic(paths.record, `${JSON.stringify(renamed, null, 2)}\n`, 0o644);
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

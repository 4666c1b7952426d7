import { stillRunning } from '../../../lib/change/exclusion.ts';
import { isRecorded, type What } from '../../../lib/change/rotation/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { ReadText } from '../../steps/certificates/authority-files.ts';
import { readStaged, saveStaged } from '../../steps/certificates/changes.ts';
import type { RotateContext } from './context.ts';
import { everyPodReady } from './pods.ts';
import { stageAuthorities } from './stage-authorities.ts';
import { stageEncryption, stageServiceAccount } from './stage-keys.ts';

/**
 * Creates everything that the later steps write, once: whenever the agent is killed, it continues
 * with the same keys. Begins only on a control plane that is ready, and not while certificates are
 * renewed or a backup is made.
 */
export const stageRotation: StepBody<RotateContext> = {
  name: 'stage',
  leaves: 'the new keys and certificates, in the folder of the agent',
  touches: ['disk', 'runtime', 'clock'],
  retries: true,
  neededUntil: 'trust-both',
  input: ({ request }) => request.id,
  holds: async ({ paths, request }) =>
    (await isRecorded(paths, request)) || (await readStaged(paths, request.id)) !== undefined,
  async run(context, progress) {
    const { paths, request } = context;
    const running = await stillRunning(paths);
    if (running !== undefined) return running;
    await everyPodReady(context, progress);
    const read: ReadText = (path) => readTextIfPresent(paths.at(path));
    const staged = await stagedFor(request.what, read);
    await saveStaged(paths, { schemaVersion: 1, id: request.id, ...staged });
    return done();
  },
};

async function stagedFor(what: What, read: ReadText) {
  if (what.kind === 'authorities') return stageAuthorities(what.names, read, new Date());
  return what.kind === 'encryption' ? stageEncryption(read) : stageServiceAccount(read);
}

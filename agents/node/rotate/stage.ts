import { readTextIfPresent } from '../../../lib/host/files.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { stillRunning } from '../exclusion.ts';
import type { ReadText } from './authority-files.ts';
import { readStaged, saveStaged } from './changes.ts';
import type { RotateContext } from './context.ts';
import { everyPodReady } from './pods.ts';
import { isRecorded } from './record.ts';
import type { What } from './request.ts';
import { stageAuthorities } from './stage-authorities.ts';
import { stageEncryption, stageServiceAccount } from './stage-keys.ts';

/**
 * Creates everything that the later steps write, once: whenever the agent is killed, it continues
 * with the same keys. Begins only on a control plane that is ready, and not while certificates are
 * renewed or a backup is made.
 */
export const stage: StepBody<RotateContext> = {
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

import { removeFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { dropStaged, PHASES, readStaged } from './changes.ts';
import type { RotateContext } from './context.ts';
import { dropBeginning } from './overlap.ts';
import { restartedBy } from './pods.ts';
import { isRecorded, writeRecord } from './record.ts';
import { readRequest, requestPath } from './request.ts';

/** Records what was rotated, and deletes what was staged: copies of keys that are in their places. */
export const conclude: StepBody<RotateContext> = {
  name: 'conclude',
  leaves: 'a record of the rotation; no staged key',
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await readRequest(paths)) === undefined,
  async run({ paths, request }) {
    if (!(await isRecorded(paths, request))) {
      const staged = await readStaged(paths, request.id);
      const changed = PHASES.flatMap((phase) => staged?.phases[phase] ?? []);
      await writeRecord(paths, request, restartedBy(changed.map(({ path }) => path)));
    }
    await cancelRotation(paths);
    return done();
  },
};

/** Deletes everything that a rotation keeps, its request last: until then it continues at a boot. */
export async function cancelRotation(paths: HostPaths): Promise<void> {
  await dropStaged(paths);
  await dropBeginning(paths);
  await removeFile(requestPath(paths));
}

import {
  isRecorded,
  recordRotation,
  rotationChange,
} from '../../../lib/change/rotation/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { removeFile } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { dropStaged } from '../../steps/certificates/changes.ts';
import type { RotateContext } from './context.ts';
import { dropBeginning } from './overlap.ts';
import { dropRestarts, restartedFor } from './restarts.ts';

/** Records what was rotated, and deletes what was staged: copies of keys that are in their places. */
export const concludeRotation: StepBody<RotateContext> = {
  name: 'conclude',
  leaves: 'a record of the rotation; no staged key',
  touches: ['disk'],
  input: ({ request }) => request.id,
  holds: async ({ paths }) => (await rotationChange.read(paths)) === undefined,
  async run({ paths, request }) {
    if (!(await isRecorded(paths, request))) {
      await recordRotation(paths, request, await restartedFor(paths, request.id));
    }
    await cancelRotation(paths);
    return done();
  },
};

/** Deletes everything that a rotation keeps, its request last: until then it continues at a boot. */
export async function cancelRotation(paths: HostPaths): Promise<void> {
  await dropStaged(paths);
  await dropBeginning(paths);
  await dropRestarts(paths);
  await removeFile(rotationChange.requestPath(paths));
}

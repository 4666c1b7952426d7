import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { type FailureData, failureFromData } from '../../../lib/base/errors/failure-data.ts';
import { asFailure } from '../../../lib/base/errors/unexpected.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import {
  dropUndo,
  type FileChange,
  keepFailed,
  keepUndo,
  loadStaged,
  type Phase,
  type Undo,
  writeChanges,
} from '../../steps/certificates/changes.ts';
import { cancelRotation } from './conclude.ts';
import type { RotateContext } from './context.ts';
import { startStalePods } from './pods.ts';
import { addRestart } from './restarts.ts';
import { restartUnits } from './units.ts';

/**
 * Changes the files of a phase, restarts what reads one of them only when it starts, and checks the
 * result. If that fails, the old files come back, and what was restarted is restarted with them.
 * May be killed at any time: the next attempt writes the same files, or continues to restore the old
 * ones if the new ones have failed. A first phase that fails ends the rotation; after a later one both are
 * trusted, and the agent tries again when it is started.
 *
 * @param verify what must work with the new files.
 * @throws Failure (fatal) `rotation-rolled-back` with the cause; the same cause if the old files do not
 *   work either, in the kind of that failure; the reason of the signal.
 */
export async function applyPhase(
  context: RotateContext,
  phase: Phase,
  verify: (progress: Progress) => Promise<void>,
  progress: Progress,
): Promise<void> {
  const { paths, request } = context;
  const changes = (await loadStaged(paths, request.id)).phases[phase];
  const undo = await keepUndo(paths, phase, changes);
  if (undo.failed !== undefined) return rollBack(context, undo, undo.failed, progress);
  try {
    await putInPlace(context, phase, changes, progress);
    await verify(progress);
  } catch (cause) {
    progress.signal.throwIfAborted();
    return rollBack(context, undo, await keepFailed(paths, undo, cause), progress);
  }
  await dropUndo(paths);
}

async function rollBack(
  context: RotateContext,
  { phase, changes }: Undo,
  failed: FailureData,
  progress: Progress,
): Promise<never> {
  const { paths } = context;
  const cause = failureFromData(failed);
  const what = `the files of ${phase} did not work`;
  progress.warn(`Restoring the old files: ${what}: ${describeError(cause)}`);
  try {
    await putInPlace(context, phase, changes, progress);
  } catch (error) {
    progress.signal.throwIfAborted();
    const { kind } = asFailure(error);
    const found = describeError(error);
    throw new Failure(kind, `${what}, and the old ones do not work either`, { found, cause });
  }
  // Nothing is left of it: certificates are renewed again, and another rotation may be requested.
  if (phase === 'trust-both') await cancelRotation(paths);
  else await dropUndo(paths);
  throw new Failure('fatal', `${what}; the old ones were restored`, {
    code: 'rotation-rolled-back',
    cause,
  });
}

async function putInPlace(
  context: RotateContext,
  phase: Phase,
  changes: readonly FileChange[],
  progress: Progress,
): Promise<void> {
  const { paths, request } = context;
  const restarts = (name: string) => addRestart(paths, request.id, phase, name);
  await writeChanges(paths, changes);
  // A kubelet that does not start with its new files is known before a pod of the control plane is stopped.
  await restartUnits(
    changes.map(({ path }) => path),
    restarts,
    progress,
  );
  await startStalePods(context, restarts, progress);
}

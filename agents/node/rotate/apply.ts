import { Failure } from '../../../lib/errors/failure.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import {
  dropUndo,
  type FileChange,
  keepUndo,
  loadStaged,
  type Phase,
  writeChanges,
} from './changes.ts';
import { cancelRotation } from './conclude.ts';
import type { RotateContext } from './context.ts';
import { startStalePods } from './pods.ts';
import { restartUnits } from './units.ts';

/**
 * Changes the files of a phase, restarts what reads one of them only when it starts, and checks the
 * result. If that fails, the old files come back, and what was restarted is restarted with them.
 * May be killed at any time: the next attempt writes the same files, and can still restore the old
 * ones. A first phase that fails ends the rotation; after a later one both are trusted, and the agent
 * tries again when it is started.
 *
 * @param verify what must work with the new files.
 * @throws Failure (fatal) `rotation-rolled-back` with the cause; the reason of the signal.
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
  try {
    await putInPlace(context, changes, progress);
    await verify(progress);
  } catch (cause) {
    progress.signal.throwIfAborted();
    progress.warn(`The files of ${phase} do not work: restoring the old ones`);
    await putInPlace(context, undo, progress);
    await dropUndo(paths);
    // Nothing is left of it: certificates are renewed again, and another rotation may be requested.
    if (phase === 'trust-both') await cancelRotation(paths);
    throw new Failure('fatal', `the files of ${phase} did not work; the old ones were restored`, {
      code: 'rotation-rolled-back',
      cause,
    });
  }
  await dropUndo(paths);
}

async function putInPlace(
  context: RotateContext,
  changes: readonly FileChange[],
  progress: Progress,
): Promise<void> {
  await writeChanges(context.paths, changes);
  // The kubelet reports the pods ready, so it is the first to have its new files.
  await restartUnits(
    changes.map(({ path }) => path),
    progress,
  );
  await startStalePods(context, progress);
}

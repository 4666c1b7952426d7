import { describeError } from '../../../lib/base/errors/failure.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { judgeTrial } from '../../../lib/engine/trial/judge.ts';
import {
  isNetworkBack,
  isRestBack,
  putBackNetwork,
  putBackRest,
} from '../../../lib/engine/trial/points.ts';
import { hasProblem, readTrialState, recordProblem } from '../../../lib/engine/trial/store.ts';
import type { KeptFile, PointsOfReturn, RevertPart } from '../../../lib/engine/trial/trial.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { relabel } from '../../../lib/host/selinux-labels.ts';
import type { TrialContext } from './context.ts';

interface Part {
  readonly name: RevertPart;
  readonly leaves: string;
  isBack(paths: HostPaths, points: PointsOfReturn): Promise<boolean>;
  /** Returns the paths that it changed. */
  putBack(paths: HostPaths, points: PointsOfReturn): Promise<string[]>;
  /** The files among them that it writes itself. */
  written(points: PointsOfReturn): readonly KeptFile[];
}

/**
 * One part of the way back. A part that cannot be put back is recorded and not tried again: the next
 * part must not depend on it, and the host must not restart for ever.
 */
const putBackStep = ({ name, leaves, isBack, putBack, written }: Part): StepBody<TrialContext> => ({
  name,
  leaves,
  touches: ['disk'],
  // Until its deadline; then the next part has its turn.
  retries: true,
  input: ({ now }) => now,
  async holds({ paths, now }) {
    const state = await readTrialState(paths);
    if (state.trial === undefined || judgeTrial(state, now).kind !== 'revert') return true;
    return hasProblem(state.trial, name) || (await isBack(paths, state.trial.points));
  },
  async run({ paths, now }, progress) {
    const state = await readTrialState(paths);
    if (state.trial === undefined || judgeTrial(state, now).kind !== 'revert') {
      return done('nothing is taken back');
    }
    if (hasProblem(state.trial, name)) return done('not tried again');
    const changed = await putBack(paths, state.trial.points);
    await relabelAll(paths, written(state.trial.points), progress);
    return done(changed.length === 0 ? 'as it was' : `put back: ${changed.join(', ')}`);
  },
  async instead({ paths }, failure) {
    await recordProblem(paths, name, failure);
    return `not put back: ${describeError(failure)}`;
  },
});

/**
 * Also files that were put back before a power cut, which nobody can tell from those that were never changed. The host goes
 * back without labels, too: a program that fails or hangs must not use up the deadline of the part.
 */
async function relabelAll(
  paths: HostPaths,
  files: readonly KeptFile[],
  progress: Progress,
): Promise<void> {
  const present = files.filter(({ was }) => was !== undefined).map(({ path }) => path);
  const enough = AbortSignal.timeout(Math.ceil(progress.remainingMs() / 2));
  try {
    await relabel(paths, present, AbortSignal.any([progress.signal, enough]));
  } catch (error) {
    progress.warn(`What was put back may lack its SELinux labels: ${describeError(error)}`);
  }
}

/** First: whatever fails afterwards, the host can be reached. */
export const networkPutBack = putBackStep({
  name: 'network',
  leaves: 'the network profiles from before the change',
  isBack: isNetworkBack,
  putBack: putBackNetwork,
  written: ({ network }) => network.files,
});

export const filesPutBack = putBackStep({
  name: 'files',
  leaves: 'the executable, the files and the folders from before the change',
  isBack: isRestBack,
  putBack: putBackRest,
  written: ({ files }) => files,
});

/** The unit sno-backup-restore restores it once the kubelet runs, and continues after a power cut. */
export const database = putBackStep({
  name: 'database',
  leaves: 'the requested restore of the database, if the change has one to go back to',
  isBack: async (paths, { database }) =>
    database === undefined || (await exists(restoreChange.requestPath(paths))),
  async putBack(paths, points) {
    if (points.database === undefined || (await exists(restoreChange.requestPath(paths))))
      return [];
    await restoreChange.write(paths, {
      schemaVersion: 1,
      backup: points.database,
      requestedAt: new Date().toISOString(),
    });
    return [`the backup ${points.database}`];
  },
  written: () => [],
});

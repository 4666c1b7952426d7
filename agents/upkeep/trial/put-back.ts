import { describeError } from '../../../lib/base/errors/failure.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
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
import type { PointsOfReturn, RevertPart } from '../../../lib/engine/trial/trial.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { TrialContext } from './context.ts';

interface Part {
  readonly name: RevertPart;
  readonly leaves: string;
  isBack(paths: HostPaths, points: PointsOfReturn): Promise<boolean>;
  /** Returns the paths that it changed. */
  putBack(paths: HostPaths, points: PointsOfReturn): Promise<string[]>;
}

/**
 * One part of the way back. A part that cannot be put back is recorded and not tried again: the next
 * part must not depend on it, and the host must not restart for ever.
 */
const putBackStep = ({ name, leaves, isBack, putBack }: Part): StepBody<TrialContext> => ({
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
  async run({ paths, now }) {
    const state = await readTrialState(paths);
    if (state.trial === undefined || judgeTrial(state, now).kind !== 'revert') {
      return done('nothing is taken back');
    }
    if (hasProblem(state.trial, name)) return done('not tried again');
    const changed = await putBack(paths, state.trial.points);
    return done(changed.length === 0 ? 'as it was' : `put back: ${changed.join(', ')}`);
  },
  async instead({ paths }, failure) {
    await recordProblem(paths, name, failure);
    return `not put back: ${describeError(failure)}`;
  },
});

/** First: whatever fails afterwards, the host can be reached. */
export const networkPutBack = putBackStep({
  name: 'network',
  leaves: 'the network profiles from before the change',
  isBack: isNetworkBack,
  putBack: putBackNetwork,
});

export const filesPutBack = putBackStep({
  name: 'files',
  leaves: 'the executable, the files and the folders from before the change',
  isBack: isRestBack,
  putBack: putBackRest,
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
});

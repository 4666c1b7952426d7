import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../lib/base/errors/failure-data.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { dropTrial, endReverted } from '../../../lib/engine/trial/arm.ts';
import { judgeTrial } from '../../../lib/engine/trial/judge.ts';
import { readTrialState } from '../../../lib/engine/trial/store.ts';
import { type EndedTrial, type PointsOfReturn, wasAsked } from '../../../lib/engine/trial/trial.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { relabel } from '../../../lib/host/selinux-labels.ts';
import type { TrialContext } from './context.ts';

/**
 * Ends a trial that was taken back, and fails with the reason, so that it is on the console, in the status and
 * in the journal, unless a person requested it and it worked. The record says that it has ended before anything else is done:
 * nothing is taken back twice.
 */
export const concludeTrial: StepBody<TrialContext> = {
  name: 'conclude',
  leaves: 'no change that is being taken back, and the record of the last one',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ now }) => now,
  async holds({ paths, now }) {
    const { kind } = judgeTrial(await readTrialState(paths), now);
    return kind === 'none' || kind === 'goes-on';
  },
  async run({ paths, now }, progress) {
    const state = await readTrialState(paths);
    const verdict = judgeTrial(state, now);
    if (state.trial === undefined || verdict.kind === 'none' || verdict.kind === 'goes-on') {
      return done('nothing is taken back');
    }
    if (verdict.kind !== 'ended') await relabelPutBack(paths, state.trial.points, progress);
    const ended = verdict.kind === 'ended' ? state.last : await endReverted(paths, state.trial);
    await dropTrial(paths, state.trial, progress.signal);
    if (ended === undefined || ended.outcome === 'confirmed') return done('it has ended');
    if (wasAsked(ended)) return done(`${ended.what} was taken back, as somebody has asked`);
    throw reverted(ended);
  },
};

/**
 * Here and not where files are put back: a power cut after those would leave them without. The host goes back without labels,
 * too: a program that fails or hangs must not use up the deadline of the step.
 */
async function relabelPutBack(
  paths: HostPaths,
  { network, files }: PointsOfReturn,
  progress: Progress,
): Promise<void> {
  const present = [...network.files, ...files].filter(({ was }) => was !== undefined);
  const enough = AbortSignal.timeout(Math.ceil(progress.remainingMs() / 2));
  try {
    await relabel(
      paths,
      present.map(({ path }) => path),
      AbortSignal.any([progress.signal, enough]),
    );
  } catch (error) {
    // The next run goes on with them: once the trial has ended, nothing gives the files their labels.
    progress.signal.throwIfAborted();
    progress.warn(`What was put back may lack its SELinux labels: ${describeError(error)}`);
  }
}

/** How a trial that was taken back ended, for its unit and for the person who made the change. */
export function reverted({ what, reason, problems, outcome }: EndedTrial): Failure {
  const why = reason === undefined ? undefined : failureFromData(reason);
  const found = why === undefined ? {} : { found: describeError(why) };
  if (outcome === 'incomplete') {
    return new Failure('fatal', `${what} was taken back, but not completely`, {
      code: 'trial-incomplete',
      ...found,
      fix: 'See "sno-trial status" for what is not as before. Its copies are in /var/lib/sno-agents/sno-trial/copies.',
      parts: problems.map(({ failure }) => failureFromData(failure)),
    });
  }
  return new Failure('fatal', `${what} was taken back`, {
    code: 'trial-reverted',
    ...found,
    fix: 'The host is as it was before. Remove the cause before the change is made again.',
  });
}

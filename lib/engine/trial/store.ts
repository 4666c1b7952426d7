import type { Failure } from '../../base/errors/failure.ts';
import { type FailureData, failureData } from '../../base/errors/failure-data.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';
import type { TrialState } from './judge.ts';
import { lastPath, trialPath } from './places.ts';
import { type EndedTrial, endedSchema, type RevertPart, type Trial, trialSchema } from './trial.ts';

const underWay = (paths: HostPaths) =>
  stateFile(trialPath(paths), trialSchema, {
    damaged: {
      expected: 'the record of a trial',
      fix: 'Nothing can be put back automatically. Delete it once the host works.',
    },
  });
const last = (paths: HostPaths) => stateFile(lastPath(paths), endedSchema, { damaged: 'none' });

/** @throws Failure (fatal) if the record of a trial under way cannot be read. */
export const readTrial = (paths: HostPaths): Promise<Trial | undefined> => underWay(paths).read();

/** How the last trial ended; undefined before the first. */
export const readLast = (paths: HostPaths): Promise<EndedTrial | undefined> => last(paths).read();

export const readTrialState = async (paths: HostPaths): Promise<TrialState> => ({
  trial: await readTrial(paths),
  last: await readLast(paths),
});

/** Synced: whoever reads it after a power cut finds it. */
export const writeTrial = (paths: HostPaths, trial: Trial): Promise<void> =>
  underWay(paths).write(trial);

export const writeLast = (paths: HostPaths, ended: EndedTrial): Promise<void> =>
  last(paths).write(ended);

/** Decides that a trial is taken back; the first reason is kept. False if there is none under way. */
export async function recordReverting(paths: HostPaths, reason: FailureData): Promise<boolean> {
  const trial = await readTrial(paths);
  if (trial === undefined) return false;
  if (trial.reverting === undefined) await writeTrial(paths, { ...trial, reverting: reason });
  return true;
}

/** Records that a part could not be put back, so that it is not tried again. */
export async function recordProblem(
  paths: HostPaths,
  part: RevertPart,
  failure: Failure,
): Promise<void> {
  const trial = await readTrial(paths);
  if (trial === undefined || hasProblem(trial, part)) return;
  const problems = [...trial.problems, { part, failure: failureData(failure) }];
  await writeTrial(paths, { ...trial, problems });
}

export const hasProblem = ({ problems }: Trial, part: RevertPart): boolean =>
  problems.some((problem) => problem.part === part);

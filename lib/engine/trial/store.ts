import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { type FailureData, failureData } from '../../base/errors/failure-data.ts';
import { parseJson } from '../../base/json.ts';
import { readTextIfPresent, readTextIfReadable, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { TrialState } from './judge.ts';
import { lastPath, trialPath } from './places.ts';
import { type EndedTrial, endedSchema, type RevertPart, type Trial, trialSchema } from './trial.ts';

/** @throws Failure (fatal) if the record of a trial under way cannot be read. */
export async function readTrial(paths: HostPaths): Promise<Trial | undefined> {
  const text = await readTextIfPresent(trialPath(paths));
  if (text === undefined) return undefined;
  const parsed = trialSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${trialPath(paths)} cannot be used`, {
    expected: 'the record of a trial',
    found: z.prettifyError(parsed.error),
    fix: 'Nothing can be put back automatically. Delete it once the host works.',
  });
}

/** How the last trial ended; undefined before the first. */
export async function readLast(paths: HostPaths): Promise<EndedTrial | undefined> {
  const text = await readTextIfReadable(lastPath(paths));
  return endedSchema.safeParse(parseJson(text ?? '')).data;
}

export const readTrialState = async (paths: HostPaths): Promise<TrialState> => ({
  trial: await readTrial(paths),
  last: await readLast(paths),
});

/** Synced: whoever reads it after a power cut finds it. */
export async function writeTrial(paths: HostPaths, trial: Trial): Promise<void> {
  await writeFileAtomic(trialPath(paths), `${JSON.stringify(trial)}\n`, 0o600);
}

export async function writeLast(paths: HostPaths, ended: EndedTrial): Promise<void> {
  await writeFileAtomic(lastPath(paths), `${JSON.stringify(ended)}\n`, 0o600);
}

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

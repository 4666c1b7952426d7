import { describeError, Failure } from '../../../lib/errors/failure.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type RenewableLeaf, renewableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import { dueLeaves, type LeafOnDisk } from '../../steps/leaf-files.ts';
import { readAttempts, recordAttempts } from './attempts.ts';
import type { RenewContext } from './context.ts';
import { replaceLeaf, resumeLeaf } from './replace-leaf.ts';
import { interruptedLeaves } from './replaced.ts';

/** Leaves renewed at the same time. A systematic error affects no more before it is noticed. */
const BATCH = 3;

/**
 * Signs each leaf again that is in the last third of its lifetime, with the same key, and restarts
 * nothing. A leaf is renewed when its server presents it, or a server has accepted it; otherwise
 * the old one is restored and the failure recorded. Leaves are independent of each other.
 */
export const renewLeaves: StepBody<RenewContext> = {
  name: 'renew-leaves',
  leaves: 'no certificate in the last third of its lifetime, except those whose renewal failed',
  input: () => renewableLeaves,
  async holds({ paths, began }) {
    if ((await interruptedLeaves(paths)).length > 0) return false;
    const tried = (await readAttempts(paths)).filter(({ at }) => new Date(at) >= began);
    const due = await dueLeaves(paths, renewableLeaves, new Date());
    return due.every(({ leaf }) => tried.some(({ name }) => name === leaf.name));
  },
  async run(context, progress) {
    const resumed = await renewInBatches(await leavesToResume(context.paths), (leaf) =>
      resumeLeaf(context, leaf, progress),
    );
    await recordAttempts(context.paths, resumed);
    const due = await dueLeaves(context.paths, renewableLeaves, new Date());
    const results = await renewInBatches(
      due.filter(({ leaf }) => !failuresOf(resumed).some(({ name }) => name === leaf.name)),
      (leaf) => replaceLeaf(context, leaf, progress),
    );
    await recordAttempts(context.paths, [...results, ...(await notDueAnyMore(context.paths, due))]);
    return done(summary([...resumed, ...results], progress));
  },
};

interface Result {
  readonly name: string;
  readonly error?: unknown;
}

/** The results of all; a failed one does not keep the others from being renewed. */
async function renewInBatches<L extends { readonly leaf: RenewableLeaf }>(
  leaves: readonly L[],
  renew: (leaf: L) => Promise<void>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < leaves.length; at += BATCH) {
    const batch = leaves.slice(at, at + BATCH);
    // All of them end before an error is thrown: each restores its own certificate.
    const ended = await Promise.allSettled(batch.map((one) => resultOf(one.leaf.name, renew(one))));
    for (const result of ended) {
      if (result.status === 'rejected') throw result.reason;
      results.push(result.value);
    }
  }
  return results;
}

async function resultOf(name: string, renewal: Promise<void>): Promise<Result> {
  try {
    await renewal;
    return { name };
  } catch (error) {
    if (error instanceof Failure) return { name, error };
    throw error;
  }
}

const failuresOf = (results: readonly Result[]) =>
  results.filter(({ error }) => error !== undefined);

/** Leaves whose renewal was killed between the new certificate and its proof. */
async function leavesToResume(paths: HostPaths) {
  const names = await interruptedLeaves(paths);
  return renewableLeaves.filter(({ name }) => names.includes(name)).map((leaf) => ({ leaf }));
}

/** A failed leaf that was renewed by something else since, such as a restart of the host. */
async function notDueAnyMore(paths: HostPaths, due: readonly LeafOnDisk[]): Promise<Result[]> {
  return (await readAttempts(paths))
    .filter(({ name, failure }) => failure !== undefined && isLeaf(name))
    .filter(({ name }) => !due.some(({ leaf }) => leaf.name === name))
    .map(({ name }) => ({ name }));
}

const isLeaf = (name: string) => renewableLeaves.some((leaf) => leaf.name === name);

function summary(results: readonly Result[], progress: Progress): string {
  const failures = failuresOf(results);
  for (const { error } of failures) progress.warn(describeError(error));
  if (results.length === 0) return 'none was due';
  const renewed = `${results.length - failures.length} renewed`;
  return failures.length === 0 ? renewed : `${renewed}, ${failures.length} failed`;
}

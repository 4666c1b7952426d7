import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type RenewableLeaf, renewableLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { dropReplaced, readReplaced, unprovenLeaves } from '../../steps/certificates/replaced.ts';
import { dueLeaves, type LeafOnDisk, leavesOnDisk } from '../../steps/leaf-files.ts';
import { readAttempts, recordAttempts } from './attempts.ts';
import { replaceLeaf, resumeLeaf } from './replace-leaf.ts';

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
  touches: ['disk', 'etcd', 'api', 'clock'],
  input: ({ run }) => run,
  async holds({ paths, run }) {
    const tried = (await readAttempts(paths)).filter((attempt) => attempt.run === run);
    const open = await openLeaves(paths);
    // An earlier failure that no longer holds must be dropped, or `conclude` fails with it.
    if ((await renewedElsewhere(paths)).length > 0) return false;
    return open.every((name) => tried.some((attempt) => attempt.name === name));
  },
  async run(context, progress) {
    const { paths } = context;
    const resumed = await renewInBatches(await leavesToResume(paths), progress, (leaf) =>
      resumeLeaf(context, leaf, progress),
    );
    await recordAttempts(context, resumed);
    const due = await dueLeaves(paths, renewableLeaves, new Date());
    const results = await renewInBatches(
      due.filter(({ leaf }) => !failuresOf(resumed).some(({ name }) => name === leaf.name)),
      progress,
      (leaf) => replaceLeaf(context, leaf, progress),
    );
    await recordAttempts(context, results);
    await recordAttempts(context, await renewedElsewhere(paths));
    return done(summary([...resumed, ...results], progress));
  },
};

interface Result {
  readonly name: string;
  readonly error?: unknown;
}

/** The results of all; a failed one does not keep the others from being renewed. */
async function renewInBatches(
  leaves: readonly LeafOnDisk<RenewableLeaf>[],
  progress: Progress,
  renew: (leaf: LeafOnDisk<RenewableLeaf>) => Promise<void>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < leaves.length; at += BATCH) {
    const batch = leaves.slice(at, at + BATCH);
    const names = batch.map(({ leaf }) => leaf.name).join(', ');
    // All of them end before an error is thrown: each restores its own certificate.
    const ended = await progress.wait(`new certificates to work: ${names}`, () =>
      Promise.allSettled(batch.map((one) => resultOf(one.leaf.name, renew(one)))),
    );
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

/** Names of the leaves whose new certificate is not proven, and of those that are due. */
async function openLeaves(paths: HostPaths): Promise<string[]> {
  const due = await dueLeaves(paths, renewableLeaves, new Date());
  return [...(await unprovenLeaves(paths)), ...due.map(({ leaf }) => leaf.name)];
}

/** Leaves with a new certificate that is not proven yet; without any, there is nothing to resume. */
async function leavesToResume(paths: HostPaths): Promise<LeafOnDisk<RenewableLeaf>[]> {
  const onDisk = await leavesOnDisk(paths, renewableLeaves);
  const unproven: LeafOnDisk<RenewableLeaf>[] = [];
  for (const name of await unprovenLeaves(paths)) {
    const found = onDisk.find(({ leaf }) => leaf.name === name);
    // The same: the renewal was killed before the new one was written.
    const isWritten = found !== undefined && found.pem !== (await readReplaced(paths, name));
    if (isWritten) unproven.push(found);
    else await dropReplaced(paths, name);
  }
  return unproven;
}

/** Failed leaves that something else has renewed since, such as a restart of the host. */
async function renewedElsewhere(paths: HostPaths): Promise<Result[]> {
  const open = await openLeaves(paths);
  return (await readAttempts(paths))
    .filter(({ name, failure }) => failure !== undefined && isLeaf(name) && !open.includes(name))
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

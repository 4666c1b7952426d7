import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { failedOutcome, type GatherOutcome } from '../../../report/gather-record.ts';
import { type GatherHost, patient } from '../gather-host.ts';
import type { Source, SourceGroup } from '../source.ts';
import { Limit, orAborted } from './abort.ts';

export interface Listing {
  /** Each path once. */
  readonly sources: readonly Source[];
  /** Groups that could not list their sources, and sources that cannot be used. */
  readonly failures: readonly GatherOutcome[];
}

/** Maximum path length below the bundle's folder; safe for tar, file systems and readers. */
const MAX_PATH = 400;
const MAX_NAME = 200;

/** Asks all groups concurrently for their sources on this host; a group that fails is an outcome. */
export async function listSources(
  groups: readonly SourceGroup[],
  host: GatherHost,
  signal: AbortSignal,
): Promise<Listing> {
  const lists = await Promise.all(groups.map((group) => listGroup(group, host, signal)));
  const sources = new Map<string, Source>();
  const failures = lists.flatMap(({ failures }) => failures);
  for (const source of lists.flatMap((list) => list.sources)) {
    const { path } = source;
    if (!isPath(path)) failures.push(failedOutcome(path, 'not a valid path in a bundle'));
    else if (sources.has(path)) failures.push(failedOutcome(path, 'two sources have this path'));
    else sources.set(path, source);
  }
  return { sources: [...sources.values()], failures };
}

async function listGroup(
  group: SourceGroup,
  host: GatherHost,
  signal: AbortSignal,
): Promise<Listing> {
  const begun = performance.now();
  const ms = patient(host, group.deadlineMs);
  const over = new Failure('deadline', `not listed after ${ms / 1000} s`);
  using limit = new Limit([signal], { ms, over });
  try {
    const listed = async () => group.list(host, limit.signal);
    return { sources: await orAborted(listed(), limit.signal), failures: [] };
  } catch (error) {
    const seconds = Math.round(performance.now() - begun) / 1000;
    return { sources: [], failures: [failedOutcome(group.name, describeError(error), seconds)] };
  }
}

/** Names come from containers and host files: none may escape the bundle or contain a line break. */
function isPath(path: string): boolean {
  const names = path.split('/');
  return (
    path.length <= MAX_PATH &&
    !/\p{Cc}/u.test(path) &&
    names.every((name) => !['', '.', '..'].includes(name) && Buffer.byteLength(name) <= MAX_NAME)
  );
}

import { changeUnderWay } from '../../../lib/change/exclusion.ts';
import { freeSpace } from '../../../lib/clients/etcd/free-space.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { backupContext } from '../../steps/backup/context.ts';

/** For each call; a large database is rewritten in less. */
const CALL_MS = 10 * 60_000;

const MIB = 2 ** 20;
const mebibytes = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

/**
 * Frees space in the running etcd. Returns what was done, for people.
 * @throws Failure if a change of the host is under way, etcd does not answer or its database is corrupt
 */
export async function compactDatabase(paths: HostPaths): Promise<string> {
  const underWay = await changeUnderWay(paths);
  if (underWay !== undefined) throw underWay;
  const { withEtcd } = await backupContext(paths);
  const limits = { signal: new AbortController().signal, deadlineMs: CALL_MS };
  const { before, after, quota, isDisarmed } = await withEtcd((client) =>
    freeSpace(client, limits),
  );
  const of = quota === 0 ? '' : ` of at most ${mebibytes(quota)}`;
  const alarm = isDisarmed ? '; the alarm NOSPACE is taken back' : '';
  return `etcd's database had ${mebibytes(before)} and has ${mebibytes(after)}${of}${alarm}\n`;
}

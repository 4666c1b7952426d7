import { Failure } from '../../base/errors/failure.ts';
import type { CallLimits } from '../grpc/client.ts';
import type { EtcdClient } from './client.ts';

export interface FreedSpace {
  /** Bytes of the database file. */
  readonly before: number;
  readonly after: number;
  /** 0 before etcd 3.6, which does not report it. */
  readonly quota: number;
  /** Whether the alarm NOSPACE was taken back. */
  readonly isDisarmed: boolean;
}

/**
 * Discards the history of the database, gives its free pages back to the file system, and takes the alarm NOSPACE back,
 * in this order: only then is there space to write. The member does not respond during a part of this. Can be repeated.
 * @throws Failure (fatal, nothing changed) if etcd has found its database corrupt
 */
export async function freeSpace(client: EtcdClient, limits: CallLimits): Promise<FreedSpace> {
  const alarms = await client.alarms(limits);
  if (alarms.some(({ alarm }) => alarm === 'CORRUPT')) {
    throw new Failure('fatal', 'etcd has raised the alarm CORRUPT', {
      expected: 'a database that is sound, whose history can be discarded',
      fix: 'Restore a backup: "sno-backup list", then "sno-backup restore --from NAME".',
    });
  }
  const { revision, dbSize: before } = await client.status(limits);
  await client.compact(revision, true, limits);
  await client.defragment(limits);
  const raised = (await client.alarms(limits)).filter(({ alarm }) => alarm === 'NOSPACE');
  for (const alarm of raised) await client.disarm(alarm, limits);
  const { dbSize: after, dbSizeQuota: quota } = await client.status(limits);
  return { before, after, quota, isDisarmed: raised.length > 0 };
}

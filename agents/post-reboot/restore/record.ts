import { join } from 'node:path';
import {
  RESTORE_FOLDER,
  readSnapshotRecord,
  SNAPSHOT_RECORD_FILE,
  type SnapshotRecord,
} from '../../../lib/installation/snapshot-record.ts';
import { Failure } from '../../../lib/steps/failure.ts';
import type { InstalledContext } from '../context.ts';

export const restoreFile = ({ paths }: InstalledContext, name: string) =>
  join(paths.state, RESTORE_FOLDER, name);

/** The record that came with the snapshot; a Failure when it is missing or another cluster's. */
export async function requireRecord(context: InstalledContext): Promise<SnapshotRecord> {
  const path = restoreFile(context, SNAPSHOT_RECORD_FILE);
  const record = await readSnapshotRecord(path);
  if (record === undefined) {
    throw new Failure('fatal', `the record of the snapshot, ${path}, is not there`, {
      fix: 'Install the host again: without it nothing tells a whole snapshot from a damaged one.',
    });
  }
  if (record.clusterId !== context.cluster.clusterId) {
    throw new Failure('fatal', `${path} is of another cluster`, {
      expected: context.cluster.clusterId,
      found: record.clusterId,
    });
  }
  return record;
}

import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  RESTORE_FOLDER,
  readSnapshotRecord,
  SNAPSHOT_RECORD_FILE,
  type SnapshotRecord,
} from '../../../lib/cluster/installation/snapshot-record.ts';
import type { HostContext } from '../../steps/host-context.ts';

export const restoreFile = ({ paths }: HostContext, name: string) =>
  join(paths.state, RESTORE_FOLDER, name);

/** The record that came with the snapshot; a Failure if it is missing or from another cluster. */
export async function requireRecord(context: HostContext): Promise<SnapshotRecord> {
  const path = restoreFile(context, SNAPSHOT_RECORD_FILE);
  const record = await readSnapshotRecord(path);
  if (record === undefined) {
    throw new Failure('fatal', `the snapshot record ${path} does not exist`, {
      code: 'snapshot-unusable',
      fix: 'Reinstall the host: without the record, the snapshot cannot be verified.',
    });
  }
  if (record.clusterId !== context.cluster.clusterId) {
    throw new Failure('fatal', `${path} is of another cluster`, {
      code: 'snapshot-unusable',
      expected: context.cluster.clusterId,
      found: record.clusterId,
    });
  }
  return record;
}

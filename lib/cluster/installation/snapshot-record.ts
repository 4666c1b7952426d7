import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { nodeIpsSchema } from '../../base/network/node-ips.ts';
import { readTextIfPresent } from '../../host/files.ts';

/** What the live stage recorded about its snapshot; the installed host verifies it. */
export const snapshotRecordSchema = z.object({
  clusterId: z.string(),
  /** SHA-256 (hex) and size of the snapshot file. */
  sha256: z.string(),
  bytes: z.number(),
  /** The revision of the snapshot, and etcd's hash of the history up to it. */
  revision: z.number(),
  hash: z.number(),
  compactRevision: z.number(),
  etcdVersion: z.string(),
  /** Must not change over the reboot: name and addresses are in certificates and in the Node. */
  hostname: z.string(),
  nodeIps: nodeIpsSchema,
});

export type SnapshotRecord = z.infer<typeof snapshotRecordSchema>;

/** Names of the two files, the same in the live stage's assets and on the installed host. */
export const SNAPSHOT_FILE = 'etcd-snapshot.db';
export const SNAPSHOT_RECORD_FILE = 'etcd-snapshot.json';
/** etcd's static pod, which only the restore unit puts in place. */
export const ETCD_MANIFEST_FILE = 'etcd-pod.yaml';

/** Folder of both on the installed host, below the state folder. */
export const RESTORE_FOLDER = 'restore';

/** Reads a record; undefined if it does not exist. */
export async function readSnapshotRecord(path: string): Promise<SnapshotRecord | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  try {
    return snapshotRecordSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new Failure('fatal', `the snapshot record ${path} cannot be read`, {
      code: 'snapshot-unusable',
      cause: error,
    });
  }
}

import { z } from 'zod';
import { Failure } from '../errors/failure.ts';
import { readTextIfPresent } from '../host/files.ts';
import { nodeIpsSchema } from '../network/node-ips.ts';

/** What the live stage wrote down about its snapshot, and what the installed host holds it against. */
export const snapshotRecordSchema = z.object({
  clusterId: z.string(),
  /** SHA-256 (hex) and size of the snapshot file. */
  sha256: z.string(),
  bytes: z.number(),
  /** The revision that it holds, and etcd's hash of the history up to it. */
  revision: z.number(),
  hash: z.number(),
  compactRevision: z.number(),
  etcdVersion: z.string(),
  /** What the reboot must not change: name and addresses are in certificates and in the Node. */
  hostname: z.string(),
  nodeIps: nodeIpsSchema,
});

export type SnapshotRecord = z.infer<typeof snapshotRecordSchema>;

/** Names of the two files, in the live stage's assets as on the installed host. */
export const SNAPSHOT_FILE = 'etcd-snapshot.db';
export const SNAPSHOT_RECORD_FILE = 'etcd-snapshot.json';
/** etcd's static pod, which the restore unit alone puts in its place. */
export const ETCD_MANIFEST_FILE = 'etcd-pod.yaml';

/** Folder of both on the installed host, below the state folder. */
export const RESTORE_FOLDER = 'restore';

/** Reads a record; undefined when there is none. */
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

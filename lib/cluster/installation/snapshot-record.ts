import { z } from 'zod';
import { nodeIpsSchema } from '../../base/network/node-ips.ts';
import { stateFile } from '../../host/state-file.ts';

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

const file = (path: string) =>
  stateFile(path, snapshotRecordSchema, {
    damaged: {
      code: 'snapshot-unusable',
      expected: 'the record of the snapshot of etcd',
      fix: 'Restore it from the combined Ignition, or install the host again.',
    },
  });

/** The record; undefined if it does not exist. @throws Failure (fatal, `snapshot-unusable`) if it is damaged */
export const readSnapshotRecord = (path: string): Promise<SnapshotRecord | undefined> =>
  file(path).read();

export const writeSnapshotRecord = (path: string, record: SnapshotRecord): Promise<void> =>
  file(path).write(record);

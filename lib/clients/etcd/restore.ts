import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { isMissing, sha256OfFile, syncDirectory } from '../../host/files.ts';
import { stateFile } from '../../host/state-file.ts';
import { syncTree } from '../../host/sync-tree.ts';
import type { HashKv } from './client.ts';
import { type Etcdutl, type EtcdutlOptions, hashKvOfDatabase, runEtcdutl } from './etcdutl.ts';

/** What was recorded when the snapshot was taken. */
export interface ExpectedSnapshot {
  /** SHA-256 (hex) of the snapshot file as a whole. */
  sha256: string;
  revision: number;
  /**
   * The hash of the history, compared after the restore. Absent for a snapshot of an etcd in use:
   * its keys have leases, and etcdutl cannot hash those ("no lessor to attach lease").
   */
  history?: Pick<HashKv, 'hash' | 'compactRevision'>;
}

export interface RestoreOptions extends Limits {
  /** Member name, peer URL and cluster token, identical to those of the static pod. */
  name: string;
  peerUrl: string;
  token: string;
  expected: ExpectedSnapshot;
  etcdutl: Etcdutl;
  /**
   * Set if the state is older than what clients may have seen (a backup, a
   * rollback): added to the revision, and everything before is marked compacted, so
   * that no client's cache remains valid. 1000000000 is common.
   */
  bumpRevision?: number;
}

/** The record of the restore, in the data directory. */
const recordSchema = z.object({
  sha256: z.string(),
  name: z.string(),
  peerUrl: z.string(),
  token: z.string(),
  revision: z.number(),
  bumpRevision: z.number(),
});
type RestoreRecord = z.infer<typeof recordSchema>;

/** Beside etcd's own folders: etcd reads only `snap` and `wal` in that folder. */
const recordIn = (dataDir: string) =>
  stateFile(join(dataDir, 'member', 'restored.json'), recordSchema, { damaged: 'none-if-read' });
const databasePath = join('member', 'snap', 'db');

/**
 * Creates etcd's data directory from a snapshot: beside its final path, its hash
 * compared with that of the live etcd, synced, then renamed. Never replaces another
 * database. `already-there` means that this very snapshot was restored here before,
 * whatever was written since. An interrupted run starts over.
 */
export async function restoreSnapshot(
  snapshotPath: string,
  dataDir: string,
  options: RestoreOptions,
): Promise<'restored' | 'already-there'> {
  const record = recordOf(options);
  if (await holdsDatabase(dataDir, record)) return 'already-there';
  await expectSnapshotFile(snapshotPath, options);
  const beside = `${dataDir}.restoring`;
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o755 });
  try {
    await buildVerified(snapshotPath, beside, options);
    await recordIn(beside).write(record);
    await syncTree(beside, options.signal);
    // An empty directory at the target is replaced; the kernel refuses a directory with contents.
    await rename(beside, dataDir);
    await syncDirectory(dirname(dataDir));
    return 'restored';
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    throw error;
  }
}

async function buildVerified(snapshotPath: string, beside: string, options: RestoreOptions) {
  const { expected, bumpRevision } = options;
  const { history, revision } = expected;
  if (history !== undefined || bumpRevision === undefined) {
    await runRestore(snapshotPath, beside, options, []);
  }
  if (history !== undefined) {
    await expectHash(join(beside, databasePath), { ...history, revision }, options);
  }
  if (bumpRevision === undefined) return;
  // A bumped database has a different history and hash: the verified restore is
  // repeated with the bump.
  const bump = ['--bump-revision', String(bumpRevision), '--mark-compacted'];
  await runRestore(snapshotPath, beside, options, bump);
}

async function runRestore(
  snapshotPath: string,
  beside: string,
  options: RestoreOptions,
  further: readonly string[],
): Promise<void> {
  const { name, peerUrl, token } = options;
  await rm(beside, { recursive: true, force: true });
  const member = ['--name', name, '--initial-cluster', `${name}=${peerUrl}`];
  const cluster = ['--initial-cluster-token', token, '--initial-advertise-peer-urls', peerUrl];
  await runEtcdutl(
    ['snapshot', 'restore', snapshotPath, '--data-dir', beside, ...member, ...cluster, ...further],
    etcdutlOptions(options),
  );
}

async function expectSnapshotFile(path: string, { expected, signal }: RestoreOptions) {
  const found = await sha256OfFile(path, signal).catch((error: unknown) => {
    if (isMissing(error)) return 'no file';
    throw error;
  });
  if (found === expected.sha256) return;
  throw new Failure('fatal', `The etcd snapshot ${path} is not the one that was taken`, {
    code: 'snapshot-unusable',
    expected: `SHA-256 ${expected.sha256}`,
    found,
  });
}

async function expectHash(
  database: string,
  expected: HashKv,
  options: RestoreOptions,
): Promise<void> {
  const found = await hashKvOfDatabase(database, expected.revision, etcdutlOptions(options));
  if (describeHash(found) === describeHash(expected)) return;
  throw new Failure(
    'fatal',
    'The contents of the restored etcd database differ from the snapshot',
    {
      code: 'snapshot-unusable',
      expected: describeHash(expected),
      found: describeHash(found),
    },
  );
}

function describeHash({ hash, revision, compactRevision }: HashKv): string {
  return `HashKV ${hash} at revision ${revision}, compacted at ${compactRevision}`;
}

/**
 * Whether the directory holds this restore's result; false if missing; anything
 * else is refused.
 */
async function holdsDatabase(dataDir: string, record: RestoreRecord): Promise<boolean> {
  const entries = await readdir(dataDir).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  if (entries.length === 0) return false;
  const found = await recordIn(dataDir).read();
  if (JSON.stringify(found) === JSON.stringify(record)) return true;
  throw new Failure('fatal', `${dataDir} already contains another database`, {
    expected: `nothing, or the restored ${describeRecord(record)}`,
    found:
      found === undefined ? entries.sort().join(', ') : `the restored ${describeRecord(found)}`,
    fix: 'Move it away if it is not needed, then start this unit again',
  });
}

function recordOf({
  name,
  peerUrl,
  token,
  expected,
  bumpRevision = 0,
}: RestoreOptions): RestoreRecord {
  return recordSchema.parse({ ...expected, name, peerUrl, token, bumpRevision });
}

function describeRecord({ sha256, name, peerUrl, token, revision }: RestoreRecord): string {
  const digest = sha256.slice(0, 12);
  return `snapshot ${digest} (revision ${revision}) of member ${name} at ${peerUrl}, token ${token}`;
}

function etcdutlOptions({ etcdutl, signal, deadlineMs }: RestoreOptions): EtcdutlOptions {
  return { program: etcdutl, signal, deadlineMs };
}

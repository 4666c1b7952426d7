import { lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { systemErrorCode } from '../../../lib/base/errors/system-error-code.ts';
import { productVersion } from '../../../lib/base/version.ts';
import {
  type BackupFile,
  type BackupManifest,
  backupName,
  copyName,
  DATABASE_FILE,
  MANIFEST_FILE,
  partialName,
  restoredMode,
  SCHEMA_VERSION,
} from '../../../lib/change/backup/manifest.ts';
import { makeRoom } from '../../../lib/change/backup/room.ts';
import {
  backupsFolder,
  deleteBackups,
  listBackups,
  partialBackups,
} from '../../../lib/change/backup/store.ts';
import type { EtcdClient } from '../../../lib/clients/etcd/client.ts';
import { snapshotStatus } from '../../../lib/clients/etcd/etcdutl.ts';
import { saveSnapshot } from '../../../lib/clients/etcd/snapshot.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import {
  ifMissing,
  sha256,
  sha256OfFile,
  syncDirectory,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import { syncTree } from '../../../lib/host/sync-tree.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { sealed } from '../../../lib/secrets/seal/envelope.ts';
import { sealKey } from '../../../lib/secrets/seal/files.ts';
import type { BackupContext } from './context.ts';

/**
 * Makes a backup of the running etcd, with the keys without which it cannot be read: in a folder
 * beside its name, which it gets when everything is verified and synced.
 */
export const create: StepBody<BackupContext> = {
  name: 'create',
  leaves: "a new backup: etcd's snapshot, the keys to read it, and a manifest",
  touches: ['disk', 'etcd', 'clock'],
  retries: true,
  // Each run is a new one, with a deadline of its own, also after a killed one.
  input: ({ run }) => run,
  async holds({ paths, earlier }) {
    const all = await listBackups(paths);
    return all.some(({ name, state }) => state === 'complete' && !earlier.includes(name));
  },
  async run(context, progress) {
    const { paths, settings } = context;
    // Those of killed runs: no other one runs beside this.
    await deleteBackups(paths, await partialBackups(paths));
    const name = backupName(new Date());
    const partial = join(backupsFolder(paths), partialName(name));
    const manifest = await context.withEtcd(async (client) => {
      const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
      const { dbSize } = await client.status(limits);
      await makeRoom(paths, settings, dbSize);
      return complete(partial, () => fill(partial, client, context, progress));
    });
    await rename(partial, join(backupsFolder(paths), name));
    await syncDirectory(backupsFolder(paths));
    const { revision, totalKey } = manifest.etcd;
    return done(`${name}: revision ${revision}, ${totalKey} revisions of keys`);
  },
};

/** Leaves the folder only if it is complete. */
async function complete<T>(partial: string, fillFolder: () => Promise<T>): Promise<T> {
  try {
    return await fillFolder();
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (systemErrorCode(error) !== 'ENOSPC') throw error;
    throw new Failure('fatal', 'the disk became full during the backup', {
      code: 'backup-no-space',
      fix: 'Delete what is not needed, and run "sno-backup create".',
      cause: error,
    });
  }
}

async function fill(
  partial: string,
  client: EtcdClient,
  context: BackupContext,
  progress: Progress,
): Promise<BackupManifest> {
  await mkdir(partial, { mode: 0o700 });
  const before = await sha256OfFile(encryptionOf(context), progress.signal);
  const { etcd, file } = await saveDatabase(partial, client, context, progress);
  const keys = await saveKeys(partial, context);
  expectSameEncryption(context, before, keys);
  const manifest: BackupManifest = {
    schemaVersion: SCHEMA_VERSION,
    version: productVersion,
    clusterId: context.cluster.clusterId,
    hostname: context.hostname(),
    at: new Date().toISOString(),
    etcd,
    files: [file, ...keys.map((key) => key.file)],
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFileAtomic(join(partial, MANIFEST_FILE), text, 0o600);
  await syncTree(partial, progress.signal);
  return manifest;
}

const encryptionOf = ({ paths, cluster }: BackupContext): string =>
  paths.at(accessTo(cluster.controlPlane).backup.encryption);

/** A key that was replaced meanwhile may have encrypted Secrets in the snapshot. */
function expectSameEncryption(
  { cluster }: BackupContext,
  before: string,
  keys: readonly SavedKey[],
): void {
  const { encryption } = accessTo(cluster.controlPlane).backup;
  if (keys.some(({ file, digest }) => file.host === encryption && digest === before)) return;
  throw new Failure('retry', `${encryption} changed during the backup`);
}

/** The revision is read from the file: etcd is written to while it streams. */
async function saveDatabase(
  partial: string,
  client: EtcdClient,
  { paths }: BackupContext,
  progress: Progress,
): Promise<{ etcd: BackupManifest['etcd']; file: BackupFile }> {
  const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
  const path = join(partial, DATABASE_FILE);
  const saved = await progress.wait('the snapshot of etcd', () =>
    saveSnapshot(client, path, limits),
  );
  const { revision, totalKey } = await progress.wait('etcdutl to check the snapshot', () =>
    snapshotStatus(path, { ...limits, program: join(paths.binaries, 'etcdutl') }),
  );
  const hashKv = await hashOf(client, revision, progress);
  return {
    etcd: { version: saved.version, revision, ...(hashKv && { hashKv }), totalKey },
    file: { path: DATABASE_FILE, mode: 0o600, bytes: saved.bytes, sha256: saved.sha256 },
  };
}

/** The backup is complete without it; etcd has none of a revision that it has compacted since. */
async function hashOf(
  client: EtcdClient,
  at: number,
  progress: Progress,
): Promise<BackupManifest['etcd']['hashKv']> {
  try {
    const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
    const { hash, compactRevision } = await client.hashKv(at, limits);
    return { hash, compactRevision };
  } catch (error) {
    progress.signal.throwIfAborted();
    progress.warn(`HashKV is not recorded: ${describeError(error)}`);
    return undefined;
  }
}

/** A copy in the backup, and the SHA-256 of the file that it is of: the copy may be sealed. */
interface SavedKey {
  readonly file: BackupFile;
  readonly digest: string;
}

async function saveKeys(partial: string, { paths, cluster }: BackupContext): Promise<SavedKey[]> {
  const { files } = accessTo(cluster.controlPlane).backup;
  const key = await sealKey(paths);
  const saved: SavedKey[] = [];
  for (const host of files) {
    const contents = await readFile(paths.at(host)).catch(ifMissing);
    if (contents === undefined) continue;
    const { mode } = await lstat(paths.at(host));
    const path = copyName(host);
    await mkdir(dirname(join(partial, path)), { recursive: true, mode: 0o700 });
    const stored = key === undefined ? contents : sealed(key, host, contents);
    await writeFileAtomic(join(partial, path), stored, 0o600);
    const described = { path, host, mode: restoredMode(mode) };
    const file = { ...described, bytes: stored.length, sha256: sha256(stored) };
    saved.push({ file, digest: sha256(contents) });
  }
  return saved;
}

import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../../base/errors/failure.ts';
import type { Cluster } from '../../../config/cluster/cluster.ts';
import { sha256, syncDirectory, writeFileAtomic } from '../../../host/files.ts';
import { readGivenFile } from '../../../host/given-file.ts';
import type { HostPaths } from '../../../host/paths.ts';
import type { Settings } from '../../../host/settings.ts';
import { syncTree } from '../../../host/sync-tree.ts';
import { sealed } from '../../../secrets/seal/envelope.ts';
import { sealKey } from '../../../secrets/seal/files.ts';
import {
  type BackupFile,
  type BackupManifest,
  backupName,
  MANIFEST_FILE,
  sizeOf,
} from '../manifest.ts';
import { makeRoom } from '../room.ts';
import { backupsFolder } from '../store.ts';
import type { AcceptedAuthor } from './author.ts';
import type { PortableHeader } from './header.ts';
import { readPortable } from './read.ts';
import { decrypterFor } from './recipients.ts';

/** A backup of another host that is among those of this one now. */
export interface Imported {
  readonly name: string;
  readonly header: PortableHeader;
}

export interface BackupImportOptions {
  readonly backup: string;
  /** Path of the key file; undefined for a backup in the clear. */
  readonly identity: string | undefined;
  readonly author: AcceptedAuthor;
}

/**
 * Brings a portable backup into the backups of this host, where the copies of keys are sealed if the host is. It gets
 * its name when it is verified and synced; what an interrupted attempt left is deleted.
 *
 * @throws Failure (usage) for a backup that cannot be read, has another author, or is of another cluster.
 */
export async function importBackup(
  { paths, settings, cluster }: { paths: HostPaths; settings: Settings; cluster: Cluster },
  { backup, identity, author }: BackupImportOptions,
  signal: AbortSignal,
): Promise<Imported> {
  const decrypter =
    identity === undefined
      ? undefined
      : decrypterFor(await readGivenFile(identity, '--identity', { signal }), identity);
  const key = await sealKey(paths);
  // Hidden: a run of sno-backup deletes folders of its own that are not complete.
  const partial = join(backupsFolder(paths), '.import');
  await rm(partial, { recursive: true, force: true });
  const files: BackupFile[] = [];
  try {
    const { header } = await readPortable(
      backup,
      { decrypter, author },
      {
        async header({ manifest }) {
          requireSameCluster(manifest, cluster);
          await makeRoom(paths, settings, sizeOf(manifest));
          await mkdir(partial, { mode: 0o700 });
        },
        async file(file, contents) {
          const target = join(partial, file.path);
          await mkdir(dirname(target), { recursive: true, mode: 0o700 });
          const stored =
            key === undefined || file.host === undefined
              ? { file, contents }
              : await sealedCopy(key, file, file.host, contents);
          files.push(stored.file);
          await pipeline(stored.contents, createWriteStream(target, { flags: 'wx', mode: 0o600 }));
        },
      },
      signal,
    );
    const manifest = { ...header.manifest, files };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await writeFileAtomic(join(partial, MANIFEST_FILE), text, 0o600);
    await syncTree(partial, signal);
    const name = backupName(new Date(manifest.at));
    await rm(join(backupsFolder(paths), name), { recursive: true, force: true });
    await rename(partial, join(backupsFolder(paths), name));
    await syncDirectory(backupsFolder(paths));
    return { name, header };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** As a sealed host keeps the copy of a key; `host`: its path there. */
async function sealedCopy(
  key: Buffer,
  file: BackupFile,
  host: string,
  contents: AsyncIterable<Buffer>,
): Promise<{ file: BackupFile; contents: Iterable<Buffer> }> {
  const pieces: Buffer[] = [];
  for await (const piece of contents) pieces.push(piece);
  const stored = sealed(key, host, Buffer.concat(pieces));
  return {
    file: { ...file, bytes: stored.length, sha256: sha256(stored) },
    contents: [stored],
  };
}

function requireSameCluster({ clusterId }: BackupManifest, cluster: Cluster): void {
  if (clusterId === cluster.clusterId) return;
  throw new Failure('usage', 'it is a backup of another cluster', {
    expected: cluster.clusterId,
    found: clusterId,
    fix: 'Install this host with the Ignition config of the cluster that is lost.',
  });
}

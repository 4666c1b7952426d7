import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type BackupManifest, backupName, MANIFEST_FILE } from '../../../lib/backup/manifest.ts';
import type { PortableHeader } from '../../../lib/backup/portable/header.ts';
import { readPortable } from '../../../lib/backup/portable/read.ts';
import { decrypterFor } from '../../../lib/backup/portable/recipients.ts';
import { backupsFolder } from '../../../lib/backup/store.ts';
import type { Cluster } from '../../../lib/cluster/cluster.ts';
import { Failure } from '../../../lib/errors/failure.ts';
import { syncTree } from '../../../lib/etcd/sync-tree.ts';
import { syncDirectory, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { Settings } from '../../../lib/host/settings.ts';
import { makeRoom } from './room.ts';

/** A backup of another host that is among those of this one now. */
export interface Imported {
  readonly name: string;
  readonly header: PortableHeader;
}

/**
 * Decrypts a portable backup into the backups of this host. It gets its name when it is verified and
 * synced; what an interrupted attempt left is deleted.
 *
 * @param identity path of the key file.
 * @throws Failure (usage) for a backup that cannot be read, or is of another cluster.
 */
export async function importBackup(
  { paths, settings, cluster }: { paths: HostPaths; settings: Settings; cluster: Cluster },
  { backup, identity }: { readonly backup: string; readonly identity: string },
  signal: AbortSignal,
): Promise<Imported> {
  const decrypter = decrypterFor(await readFile(identity, 'utf8'), identity);
  // Hidden: a run of sno-backup deletes folders of its own that are not complete.
  const partial = join(backupsFolder(paths), '.import');
  await rm(partial, { recursive: true, force: true });
  try {
    const header = await readPortable(
      backup,
      decrypter,
      {
        async header({ manifest }) {
          requireSameCluster(manifest, cluster);
          await makeRoom(paths, settings, sizeOf(manifest));
          await mkdir(partial, { mode: 0o700 });
        },
        async file({ path }, contents) {
          const target = join(partial, path);
          await mkdir(dirname(target), { recursive: true, mode: 0o700 });
          await pipeline(contents, createWriteStream(target, { flags: 'wx', mode: 0o600 }));
        },
      },
      signal,
    );
    const { manifest } = header;
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

const sizeOf = ({ files }: BackupManifest) => files.reduce((sum, { bytes }) => sum + bytes, 0);

function requireSameCluster({ clusterId }: BackupManifest, cluster: Cluster): void {
  if (clusterId === cluster.clusterId) return;
  throw new Failure('usage', 'it is a backup of another cluster', {
    expected: cluster.clusterId,
    found: clusterId,
    fix: 'Install this host with the Ignition config of the cluster that is lost.',
  });
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BackupManifest, DATABASE_FILE } from '../../../../lib/change/backup/manifest.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { cluster } from '../../agents/host/cluster.ts';

/** Writes a complete backup of these files, by their paths in it, to a folder. */
export function writeBackup(
  folder: string,
  files: Readonly<Record<string, string>> = {},
  more: Partial<BackupManifest> = {},
): BackupManifest {
  const all = { [DATABASE_FILE]: 'a snapshot', ...files };
  for (const [path, contents] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, path), contents, { mode: 0o600 });
  }
  const manifest: BackupManifest = {
    schemaVersion: 1,
    version: '1.2.3',
    clusterId: cluster.clusterId,
    hostname: 'edge-0',
    at: '2030-01-02T03:04:05.000Z',
    etcd: { version: '3.6.0', revision: 70, totalKey: 8 },
    files: Object.entries(all).map(([path, contents]) => ({
      path,
      ...(path.startsWith('host/') ? { host: path.slice('host'.length) } : {}),
      mode: 0o600,
      bytes: contents.length,
      sha256: sha256(contents),
    })),
    ...more,
  };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest), { mode: 0o600 });
  return manifest;
}

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { BackupTo } from '../../../lib/change/backup/push/backup-to.ts';
import { backupToPath, parseBackupTo } from '../../../lib/change/backup/push/read-backup-to.ts';
import type { Cluster } from '../../../lib/config/cluster/cluster.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { readTextIfPresent, sha256 } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSoundSettings, type Settings } from '../../../lib/host/settings.ts';

/** The host, and where its backups go. */
export interface PushContext {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly hostname: string;
  readonly cluster: Pick<Cluster, 'clusterId' | 'proxy'>;
  readonly to: BackupTo;
  /** SHA-256 of backup-to.json. */
  readonly target: string;
  /** Of this run: an earlier one has seen other backups. */
  readonly run: string;
}

/** @throws Failure (usage) without a backup-to.json, or with one that cannot be used */
export async function pushContext(paths: HostPaths): Promise<PushContext> {
  const path = backupToPath(paths);
  const text = await readTextIfPresent(path);
  if (text === undefined) {
    throw new Failure('usage', `${path} does not exist`, {
      fix: 'Backups of this host stay on it. See docs/upkeep.md.',
    });
  }
  const { settings } = await readSoundSettings(paths);
  const to = parseBackupTo(text, path);
  const cluster = await readCluster(paths);
  return {
    ...{ paths, settings, cluster, to, hostname: hostname() },
    ...{ target: sha256(text), run: randomUUID() },
  };
}

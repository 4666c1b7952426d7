import { mkdir, statfs } from 'node:fs/promises';
import { Failure } from '../../base/errors/failure.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { Settings } from '../../host/settings.ts';
import { makingRoom, type RetentionLimits } from './retention.ts';
import { backupsFolder, deleteBackups, listBackups, storedBackups } from './store.ts';

const MIB = 2 ** 20;
const DAY_MS = 86_400_000;

/** Creates the folder of backups, and returns the size of its file system and what is free there, in bytes. */
async function diskOf(paths: HostPaths): Promise<{ bytes: number; free: number }> {
  const folder = backupsFolder(paths);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { blocks, bavail, bsize } = await statfs(folder);
  return { bytes: blocks * bsize, free: bavail * bsize };
}

/** The limits of the settings on this disk. */
export async function limitsOf(paths: HostPaths, settings: Settings): Promise<RetentionLimits> {
  const { bytes } = await diskOf(paths);
  return {
    count: settings.backupKeepCount,
    ageMs: settings.backupKeepDays * DAY_MS,
    bytes: (bytes * settings.backupDiskSharePercent) / 100,
  };
}

/**
 * Makes room for a backup of `bytes`, by deleting the oldest ones if necessary, but never the newest
 * complete one.
 *
 * @throws Failure (fatal, `backup-no-space`) if that is not enough; nothing was deleted.
 */
export async function makeRoom(paths: HostPaths, settings: Settings, bytes: number): Promise<void> {
  const limits = await limitsOf(paths, settings);
  if (bytes > limits.bytes) {
    throw new Failure('fatal', 'the backup is larger than the share of the disk for backups', {
      code: 'backup-no-space',
      expected: `at most ${inMiB(limits.bytes)}, ${settings.backupDiskSharePercent} % of the disk`,
      found: inMiB(bytes),
      fix: 'Use a larger disk, or increase backupDiskSharePercent in /etc/sno-agents/settings.json.',
    });
  }
  const { free } = await diskOf(paths);
  const needed = bytes + settings.backupMinFreeMiB * MIB;
  const deleted = makingRoom(storedBackups(await listBackups(paths)), needed - free);
  if (deleted === undefined) {
    throw new Failure('fatal', 'the disk has no room for a backup', {
      code: 'backup-no-space',
      expected: `${inMiB(needed)}, of which ${settings.backupMinFreeMiB} MiB stay free`,
      found: `${inMiB(free)} free`,
      fix: 'Delete what is not needed, and run "sno-backup create".',
    });
  }
  await deleteBackups(
    paths,
    deleted.map(({ name }) => name),
  );
}

/** @throws Failure (fatal, `backup-no-space`) if `bytes` more would leave less free than the settings keep; nothing is deleted */
export async function requireRoom(
  paths: HostPaths,
  settings: Settings,
  bytes: number,
): Promise<void> {
  const { free } = await diskOf(paths);
  const needed = bytes + settings.backupMinFreeMiB * MIB;
  if (free >= needed) return;
  throw new Failure('fatal', 'the disk has no room for an encrypted copy of the backup', {
    code: 'backup-no-space',
    expected: `${inMiB(needed)}, of which ${settings.backupMinFreeMiB} MiB stay free`,
    found: `${inMiB(free)} free`,
    fix: 'Delete what is not needed.',
  });
}

const inMiB = (bytes: number) => `${Math.ceil(bytes / MIB)} MiB`;

import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../../host/files.ts';

/** File systems on a disk, by the magic numbers of statfs(2). */
const diskFileSystems = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x4d44, // vfat
  0x2011bab0, // exfat
]);

export interface Walk {
  /** Folders to begin at; one that does not exist or is a link is left out. */
  readonly folders: readonly string[];
  /** Files on the device of this folder count, whatever its file system is. */
  readonly root: string;
  /** Neither these nor what is below them. */
  readonly exempt: (path: string) => boolean;
  /** Whether a folder is left out if it is on another device than the folder it is in. */
  readonly oneDevice: (path: string) => boolean;
  /** Whether the file system of a folder counts. By default, those on a disk. */
  readonly isOnDisk?: (path: string) => Promise<boolean>;
}

/**
 * Every regular file below some folders that is on a disk: other disks mounted there
 * too (a partition of its own for /var/lib/etcd), but no tmpfs, /proc, overlay of a
 * container or network file system. Links are not followed. What is deleted
 * meanwhile is left out.
 */
export async function* filesOnDisk(walk: Walk): AsyncGenerator<string> {
  const { dev } = await lstat(walk.root);
  const devices = new Map<number, Promise<boolean>>([[dev, Promise.resolve(true)]]);
  const isOnDisk = (path: string, device: number) => {
    const known = devices.get(device) ?? (walk.isOnDisk ?? isDisk)(path);
    devices.set(device, known);
    return known;
  };
  for (const folder of walk.folders) {
    if (!walk.exempt(folder)) yield* below(walk, folder, undefined, isOnDisk);
  }
}

async function* below(
  walk: Walk,
  folder: string,
  parentDevice: number | undefined,
  isOnDisk: (path: string, device: number) => Promise<boolean>,
): AsyncGenerator<string> {
  const here = await whileThere(() => lstat(folder));
  if (!here?.isDirectory()) return;
  if (parentDevice !== here.dev) {
    if (parentDevice !== undefined && walk.oneDevice(folder)) return;
    if (!(await whileThere(() => isOnDisk(folder, here.dev)))) return;
  }
  const entries = (await whileThere(() => readdir(folder, { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (walk.exempt(path)) continue;
    if (entry.isDirectory()) yield* below(walk, path, here.dev, isOnDisk);
    else if (entry.isFile()) yield path;
  }
}

async function isDisk(path: string): Promise<boolean> {
  return isDiskFileSystem((await statfs(path)).type);
}

/** `magic`: of statfs(2). */
export const isDiskFileSystem = (magic: number): boolean => diskFileSystems.has(magic);

/**
 * A regular file for reading, never through a link; undefined when it no longer
 * exists or is no regular file.
 */
export async function openRegularFile(
  path: string,
): Promise<{ handle: FileHandle; status: Stats } | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await whileThere(() => open(path, flags));
  if (handle === undefined) return undefined;
  try {
    const status = await handle.stat();
    if (status.isFile()) return { handle, status };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** A file's contents up to the size it had when it was opened; each piece reuses the memory of the last. */
export async function* contentsOf(
  handle: FileHandle,
  size: number,
  memory: Buffer,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(memory, 0, Math.min(memory.length, size - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield memory.subarray(0, bytesRead);
  }
}

/** Undefined when the path does not exist, or is a link where none was. */
async function whileThere<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const isReplaced = error instanceof Error && 'code' in error && error.code === 'ELOOP';
    if (isReplaced || isMissing(error)) return undefined;
    throw error;
  }
}

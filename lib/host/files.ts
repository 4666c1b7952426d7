import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '../base/errors/system-error-code.ts';

/** Makes changes to a folder's entries durable: renames, creations, removals. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await directory.sync();
}

/** A file as it is to be written. */
export interface NewFile {
  readonly path: string;
  readonly contents: string | Uint8Array;
  readonly mode: number;
}

/** Makes the contents of a file durable that another program wrote; a symlink is followed. */
export async function syncFile(path: string): Promise<void> {
  await using file = await open(path, constants.O_RDONLY);
  await file.sync();
}

/**
 * Writes a file atomically: beside the target, synced, renamed, folder synced. The
 * file is created with its final mode, so a secret is never readable in between. A
 * symlink at the target is replaced, not followed.
 */
export async function writeFileAtomic(
  path: string,
  contents: string | Uint8Array,
  mode: number,
): Promise<void> {
  await writeFilesAtomic([{ path, contents, mode }]);
}

/** A disk syncs many files in hardly more time than one. */
const SYNCED_AT_ONCE = 16;

/**
 * The same for several files: each is atomic, and all are renamed, in their order, once all are
 * synced. Their readers see old and new ones together as briefly as possible.
 */
export async function writeFilesAtomic(files: readonly NewFile[]): Promise<void> {
  const written: string[] = [];
  try {
    for (let at = 0; at < files.length; at += SYNCED_AT_ONCE) {
      const batch = files.slice(at, at + SYNCED_AT_ONCE);
      const results = await Promise.allSettled(batch.map(writeBeside));
      for (const result of results) if (result.status === 'fulfilled') written.push(result.value);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
    for (const [at, { path }] of files.entries()) await rename(written[at] ?? '', path);
  } catch (error) {
    for (const beside of written) await rm(beside, { force: true });
    throw error;
  }
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) await syncDirectory(folder);
}

/** Returns the path of the file that is to be renamed. */
async function writeBeside({ path, contents, mode }: NewFile): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  // Hidden: the kubelet would start a static pod from any other file that appears in its folder.
  const name = `.${basename(path)}.${randomBytes(4).toString('hex')}.new`;
  const beside = join(dirname(path), name);
  await using file = await open(
    beside,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    mode,
  );
  try {
    await file.chmod(mode);
    await file.writeFile(contents);
    await file.sync();
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return beside;
}

/** The text of a file; undefined if it does not exist. */
export async function readTextIfPresent(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(ifMissing);
}

/**
 * The same for a file that its reader can do without: undefined as well if something else is in its place, or the disk does not
 * give it back.
 */
export async function readTextIfReadable(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** The names in a folder, sorted; empty if it does not exist. */
export async function namesIn(path: string): Promise<string[]> {
  return ((await readdir(path).catch(ifMissing)) ?? []).toSorted();
}

export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(ifMissing)) !== undefined;
}

/** Deletes a file durably; true if it existed. */
export async function removeFile(path: string): Promise<boolean> {
  if (!(await exists(path))) return false;
  await rm(path);
  await syncDirectory(dirname(path));
  return true;
}

/** A snapshot of etcd has gigabytes. */
const ZEROS = Buffer.alloc(1 << 20);

/**
 * Deletes a file durably, and overwrites with zeros what it had on the disk, as far as the file system and the disk write
 * in place. A process that is killed in between leaves it deleted. A link is deleted, not followed. True if it existed.
 */
export async function removeOverwritten(path: string): Promise<boolean> {
  if ((await lstat(path).catch(ifMissing))?.isFile() !== true) return removeFile(path);
  await using file = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  const { size } = await file.stat();
  await removeFile(path);
  for (let at = 0; at < size; at += ZEROS.length) {
    await file.write(ZEROS, 0, Math.min(ZEROS.length, size - at), at);
  }
  await file.sync();
  return true;
}

/** SHA-256 of a file as lower-case hex, streamed. */
export async function sha256OfFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    // A snapshot is large, and the default of 64 KiB takes twice the processor time. As much for each small file would keep
    // the garbage collector busy.
    const highWaterMark = Math.min(Math.max((await stat(path)).size, 4096), 1 << 20);
    await pipeline(createReadStream(path, { highWaterMark }), hash, { signal });
  } catch (error) {
    // The signal's reason says more than the pipeline's AbortError.
    signal.throwIfAborted();
    throw error;
  }
  return hash.digest('hex');
}

export function sha256(contents: string | Uint8Array): string {
  return createHash('sha256').update(contents).digest('hex');
}

/** For `catch`: undefined if nothing exists at the path. @throws any other error */
export function ifMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}

/** Whether a file system call failed because nothing exists at the path. */
export function isMissing(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

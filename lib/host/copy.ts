import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from './command.ts';
import { syncDirectory } from './files.ts';

const DEADLINE_MS = 15 * 60_000;

/** A file up to this size is copied in less time than a process takes to start. */
const SMALL_BYTES = 1 << 20;

/**
 * Copies a file, a large one with `cp`, atomically: written beside the target, synced,
 * renamed. `check` may inspect the copy before the rename, and throw. A symlink is
 * not copied: ELOOP.
 */
export async function copyFile(
  source: string,
  target: string,
  mode: number,
  signal: AbortSignal,
  check: (copy: string) => Promise<void> = async () => undefined,
): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const beside = join(dirname(target), `.${basename(target)}.new`);
  await rm(beside, { force: true });
  try {
    const contents = await contentsIfSmall(source, signal);
    if (contents === undefined) {
      await run('cp', ['--reflink=auto', '--no-dereference', '--', source, beside], {
        signal,
        deadlineMs: DEADLINE_MS,
      });
    }
    const made = contents === undefined ? 0 : constants.O_CREAT | constants.O_EXCL;
    const copy = await open(beside, constants.O_RDWR | constants.O_NOFOLLOW | made, 0o600);
    try {
      if (contents !== undefined) await copy.writeFile(contents);
      await copy.chmod(mode);
      await copy.sync();
    } finally {
      await copy.close();
    }
    await check(beside);
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
}

/** Of a file; undefined for a larger one, and for anything else. */
async function contentsIfSmall(path: string, signal: AbortSignal): Promise<Buffer | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size > SMALL_BYTES) return undefined;
  return readFile(path, { flag: constants.O_RDONLY | constants.O_NOFOLLOW, signal });
}

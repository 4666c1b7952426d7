import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from './command.ts';
import { syncDirectory } from './files.ts';

const DEADLINE_MS = 15 * 60_000;

/**
 * Copies a large file with `cp`, atomically, as placeFile does. A symlink is
 * not copied: ELOOP.
 */
export async function copyFile(
  source: string,
  target: string,
  mode: number,
  signal: AbortSignal,
  check: (copy: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const copy = async (beside: string) => {
    await run('cp', ['--reflink=auto', '--no-dereference', '--', source, beside], {
      signal,
      deadlineMs: DEADLINE_MS,
    });
  };
  await placeFile(target, mode, copy, check);
}

/**
 * Makes a large file atomically: `write` makes it beside the target, where nothing is; it is synced and
 * renamed. `check` may inspect it before the rename, and throw.
 */
export async function placeFile(
  target: string,
  mode: number,
  write: (beside: string) => Promise<void>,
  check: (beside: string) => Promise<void>,
): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const beside = join(dirname(target), `.${basename(target)}.new`);
  await rm(beside, { force: true });
  try {
    await write(beside);
    const file = await open(beside, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await check(beside);
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await syncDirectory(dirname(target));
}

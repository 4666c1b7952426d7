import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from './command.ts';
import { syncDirectory } from './files.ts';

const DEADLINE_MS = 15 * 60_000;

/**
 * Copies a large file with `cp`, atomically: written beside the target, synced,
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
    await run('cp', ['--reflink=auto', '--no-dereference', '--', source, beside], {
      signal,
      deadlineMs: DEADLINE_MS,
    });
    const copy = await open(beside, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
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

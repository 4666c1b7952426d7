import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Unit tests that run at the same time have a few hundred MiB of files at most. */
const NEEDED_BYTES = 1024 ** 3;

const IN_MEMORY = '/dev/shm';

/** A folder for the files of tests, which is removed with all that they have left. */
export interface Scratch extends AsyncDisposable {
  /** Short: a socket's path, which may be below it, is limited to about a hundred characters. */
  readonly path: string;
}

/**
 * In memory where this machine has room for it: tests create hosts of many small files thousands of times, and half of
 * their processor time was the disk's file system.
 */
export async function createScratch(): Promise<Scratch> {
  const path = await mkdtemp(join((await hasRoomInMemory()) ? IN_MEMORY : tmpdir(), 't-'));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Tests also start programs there, which containers often forbid. */
async function hasRoomInMemory(): Promise<boolean> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const [, , type, options = ''] =
    mounts
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, at]) => at === IN_MEMORY) ?? [];
  if (type !== 'tmpfs' || options.split(',').some((each) => each === 'noexec' || each === 'ro')) {
    return false;
  }
  const { bavail, bsize } = await statfs(IN_MEMORY);
  return bavail * bsize >= NEEDED_BYTES;
}

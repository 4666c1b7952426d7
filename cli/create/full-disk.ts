import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { isSystemError } from '../../lib/base/errors/system-error.ts';

/** Less is no space to anything that is written here. */
const NONE_BYTES = 1024 ** 2;

/**
 * The error, or if the file system of `path` is full, a Failure (usage) that names it, the `bytes` to be written
 * as far as they are known, and what is free.
 */
export async function namingFullDisk(
  error: unknown,
  path: string,
  bytes: number | undefined,
): Promise<unknown> {
  const folder = dirname(path);
  const free = await freeBytes(folder);
  const isSaid = saysFull(error);
  // A program that writes the file, such as cp or xorriso, says it in words of its own.
  const isSeen = error instanceof Failure && error.kind !== 'usage' && free < NONE_BYTES;
  if (!isSaid && !isSeen) return error;
  return new Failure('usage', `${path} cannot be written: ${folder} is full; nothing was written`, {
    code: 'disk-full',
    expected: bytes === undefined ? 'space for it' : `${bytes} bytes free`,
    ...(Number.isFinite(free) ? { found: `${free} bytes free` } : {}),
    fix: 'Free some space, or use another folder.',
    cause: error,
    tellsCause: true,
  });
}

/** Of a folder, or of the one that it was to be made in. Infinite if it is not known. */
export const freeBytes = (folder: string): Promise<number> =>
  statfs(folder)
    .catch(() => statfs(dirname(folder)))
    .then(
      ({ bavail, bsize }) => bavail * bsize,
      () => Infinity,
    );

/** As programs in C and Go say it. */
export const isDiskFullText = (text: string): boolean =>
  /no space left on device|disk quota exceeded/i.test(text);

const saysFull = (error: unknown): boolean =>
  isSystemError(error) && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** Whether an error of anything that writes, or one of its causes, is that a disk is full. */
export function isFullDisk(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (saysFull(at)) return true;
    if (at instanceof Failure && (at.code === 'disk-full' || isDiskFullText(at.message)))
      return true;
  }
  return false;
}

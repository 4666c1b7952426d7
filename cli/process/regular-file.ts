import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { isSystemError, systemErrorText } from './system-error.ts';

/**
 * The status of a file to be read: symlinks are followed; devices, FIFOs and
 * folders are refused before they are opened. `what` begins the message. @throws
 * Failure (usage)
 */
export async function requireRegularFile(path: string, what: string): Promise<Stats> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw unreadable(path, what, cause);
  });
  if (stats.isFile()) return stats;
  throw new Failure('usage', `${what} ${path} is not a regular file; nothing was written`, {
    found: kindOf(stats),
  });
}

/** Of keys, signatures, kubeconfigs and manifests: far more than each of them has. */
const MAX_SMALL_BYTES = 1 << 20;

/**
 * The text of a file that a person names and that is small by its nature; `what` begins the message.
 * @throws Failure (usage) for anything else
 */
export async function readSmallFile(path: string, what: string): Promise<string> {
  const { size } = await requireRegularFile(path, what);
  if (size > MAX_SMALL_BYTES) {
    throw new Failure('usage', `${what} ${path} is too large`, {
      expected: `at most ${MAX_SMALL_BYTES} bytes`,
      found: `${size}`,
    });
  }
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw unreadable(path, what, cause);
  });
}

/** For what a person names and cannot be read; `what` begins the message. */
export function unreadable(path: string, what: string, cause: unknown): Failure {
  const found = isSystemError(cause) ? systemErrorText({ ...cause, path: undefined }) : `${cause}`;
  return new Failure('usage', `${what} ${path} cannot be read; nothing was written`, { found });
}

/** The type of something other than a regular file, in words. */
export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  return 'a device';
}

/** Plain words for system errors that a person can do something about. */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EEXIST: 'something else is there',
  EDQUOT: 'disk quota exceeded',
  EIO: 'input/output error of the device',
  EISDIR: 'is a directory',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'name too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
};

export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string';

/** What is wrong with a path, or with the rights of whoever names it: the same again will not help. */
const BAD_PATH: ReadonlySet<string> = new Set([
  ...['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'],
]);

/** Whether a call failed for the path that it was given. A program that is not there is no path. */
export const isBadPath = (error: unknown): error is NodeJS.ErrnoException =>
  isSystemError(error) &&
  BAD_PATH.has(error.code ?? '') &&
  error.path !== undefined &&
  error.syscall?.startsWith('spawn') !== true;

/** `no space left on device (ENOSPC): /mnt/x`, with the path if the error names one. */
export function systemErrorText(error: NodeJS.ErrnoException, path = error.path): string {
  const { code = '' } = error;
  return `${systemErrorWords(error)}${path === undefined || !(code in WORDS) ? '' : `: ${path}`}`;
}

/** The same without its path, for a sentence that has named it. */
export function systemErrorWords({ code = '', message }: NodeJS.ErrnoException): string {
  const words = WORDS[code];
  return words === undefined ? message : `${words} (${code})`;
}

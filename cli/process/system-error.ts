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

/** `no space left on device (ENOSPC): /mnt/x`, with the path if the error names one. */
export function systemErrorText({ code = '', message, path }: NodeJS.ErrnoException): string {
  const words = WORDS[code];
  if (words === undefined) return message;
  return `${words} (${code})${path === undefined ? '' : `: ${path}`}`;
}

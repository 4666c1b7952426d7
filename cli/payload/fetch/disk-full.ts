import { statfs } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { systemErrorCode } from '../../../lib/base/errors/system-error-code.ts';

/** As programs in C and Go say it. */
export const isDiskFullText = (text: string): boolean =>
  /no space left on device|disk quota exceeded/i.test(text);

const isDiskFull = (error: unknown): boolean =>
  (error instanceof Failure && (error.code === 'disk-full' || isDiskFullText(error.message))) ||
  ['ENOSPC', 'EDQUOT'].some((code) => code === systemErrorCode(error));

/** The error, or if a disk is full, a Failure (usage) that names the folder and what is free there. */
export async function namingFullFolder(
  error: unknown,
  folder: string,
  bytes: number | undefined,
): Promise<unknown> {
  if (!isDiskFull(error)) return error;
  const { bavail, bsize } = await statfs(folder);
  return new Failure('usage', `${folder} is full; no payload was written`, {
    code: 'disk-full',
    ...(bytes === undefined ? {} : { expected: `at least ${bytes} bytes free` }),
    found: `${bavail * bsize} bytes free`,
    fix: 'Free some space, or use other folders (--dir, --parts).',
    cause: error,
    tellsCause: true,
  });
}

/** @throws Failure (usage) if that many more bytes do not fit */
export async function requireFree(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Failure('usage', `${folder} has not enough space; no payload was written`, {
    code: 'disk-full',
    expected: `at least ${bytes} bytes free`,
    found: `${free} bytes free`,
    fix: 'Free some space, or use other folders (--dir, --parts).',
  });
}

import { Failure } from '../../../lib/base/errors/failure.ts';
import { freeBytes, isFullDisk } from '../../create/full-disk.ts';

const FULL = {
  code: 'disk-full',
  fix: 'Free some space, or use other folders (--dir, --parts).',
} as const;

/** The error, or if a disk is full, a Failure (usage) that names the folder and what is free there. */
export async function namingFullFolder(error: unknown, folder: string): Promise<unknown> {
  if (!isFullDisk(error)) return error;
  const found = `${await freeBytes(folder)} bytes free`;
  const details = { ...FULL, found, cause: error, tellsCause: true };
  return new Failure('usage', `${folder} is full; no payload was written`, details);
}

/** @throws Failure (usage) if that many more bytes do not fit */
export async function requireFree(folder: string, bytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= bytes) return;
  throw new Failure('usage', `${folder} has not enough space; no payload was written`, {
    ...{ ...FULL, expected: `at least ${bytes} bytes free`, found: `${free} bytes free` },
  });
}

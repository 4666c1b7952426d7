import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors/system-error-code.ts';
import { isMissing } from '../../host/files.ts';
import { refused } from './refused.ts';

/**
 * A file of a volume; undefined if it is not there. Only a regular file in real folders is opened, and never more is read
 * than it may have: what is there was written by others.
 *
 * @throws Failure (usage, `site-volume-refused`) for anything else
 */
export async function readVolumeFile(
  folder: string,
  path: string,
  mostBytes: number,
): Promise<Buffer | undefined> {
  const parts = path.split('/');
  for (const at of parts.keys()) {
    const isLast = at === parts.length - 1;
    const part = join(folder, ...parts.slice(0, at + 1));
    const stats = await lstat(part).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (stats === undefined) return undefined;
    if (isLast ? stats.isFile() : stats.isDirectory()) continue;
    throw refused(`${path} of the volume is not used`, {
      expected: 'a regular file',
      found: stats.isSymbolicLink()
        ? 'a link'
        : stats.isDirectory()
          ? 'a folder'
          : 'a device, a pipe or a socket',
    });
  }
  try {
    await using file = await open(
      join(folder, path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const { size } = await file.stat();
    if (size > mostBytes) throw tooLarge(path, size, mostBytes);
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await file.read(buffer, 0, size, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if (systemErrorCode(error) !== 'EIO') throw error;
    throw refused(`${path} of the volume cannot be read`, {
      found: 'an error of the medium',
      fix: 'Nothing was changed. Use another medium.',
    });
  }
}

const tooLarge = (path: string, size: number, most: number) =>
  refused(`${path} of the volume is not used`, {
    expected: `at most ${most} bytes`,
    found: `${size}`,
  });

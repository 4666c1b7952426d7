import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { collectFiles, type MediumEntry, type MediumLimits, refused } from './collect.ts';
import { ext4Entries } from './ext4.ts';
import { fatEntries } from './fat.ts';
import { isoEntries } from './iso.ts';

/** How each kind of file system, as blkid calls it, is read. */
const READERS: Readonly<
  Record<string, (device: string, limits: MediumLimits, time: Limits) => AsyncIterable<MediumEntry>>
> = {
  iso9660: isoEntries,
  ext2: ext4Entries,
  ext3: ext4Entries,
  ext4: ext4Entries,
  vfat: fatEntries,
};

/** Kinds of file systems that are read. */
export const READABLE: readonly string[] = Object.keys(READERS);

/**
 * The files of a medium, without mounting it: no driver of the kernel interprets what a stranger has written.
 * Runs in a process without rights (lib/host/media/read-unprivileged.ts).
 *
 * @throws Failure (usage) if the medium has anything else than some regular files
 */
export async function readMedium(
  { device, fileSystem }: { readonly device: string; readonly fileSystem: string },
  limits: MediumLimits,
  time: Limits,
): Promise<Map<string, Uint8Array>> {
  const reader = Object.hasOwn(READERS, fileSystem) ? READERS[fileSystem] : undefined;
  if (reader === undefined) {
    throw refused(`a file system ${JSON.stringify(fileSystem.slice(0, 20))}`);
  }
  try {
    return await collectFiles(reader(device, limits, time), limits);
  } catch (error) {
    time.signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    // A library that reads a damaged file system fails in any way.
    const found = error instanceof Error ? error.message : 'it cannot be read';
    throw refused(`a damaged file system: ${found.slice(0, 200)}`);
  }
}

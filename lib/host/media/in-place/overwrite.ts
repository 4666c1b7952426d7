import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Limits } from '../../../base/wait/limits.ts';
import { fatExtents } from '../fat.ts';
import { ext4Extents } from './ext4.ts';
import type { Extent } from './extent.ts';
import { isoExtents } from './iso.ts';

/** How each kind of file system, as blkid calls it, says where a file of its top folder lies. */
const LOCATORS: Readonly<
  Record<
    string,
    (device: string, name: string, time: Limits) => Promise<readonly Extent[] | undefined>
  >
> = {
  iso9660: isoExtents,
  ext2: ext4Extents,
  ext3: ext4Extents,
  ext4: ext4Extents,
  vfat: fatExtents,
};

/** New contents of a file that is on a medium already, and has as many bytes. */
export interface Overwritten {
  /** In the top folder. */
  readonly name: string;
  /** By what the present contents are recognised: they begin with it. */
  readonly mark: string;
  readonly contents: Buffer;
}

/**
 * Replaces the bytes of files where they lie. Nothing else of the file system changes, so that it stays whole if the
 * medium is pulled out or the power fails meanwhile; therefore it works on an ISO that was written to a stick, too. A device
 * that is mounted is refused. Runs in a process without rights (lib/host/media/write-unprivileged.ts).
 *
 * @throws Error if the medium is read-only, has no such file, or another one in its place
 */
export async function overwriteFiles(
  { device, fileSystem }: { readonly device: string; readonly fileSystem: string },
  files: readonly Overwritten[],
  time: Limits,
): Promise<void> {
  const locate = Object.hasOwn(LOCATORS, fileSystem) ? LOCATORS[fileSystem] : undefined;
  if (locate === undefined) throw new Error('a file system of another kind');
  const located = await Promise.all(
    files.map(async (file) => ({ file, extents: await locate(device, file.name, time) })),
  );
  // Exclusive: of a block device the kernel then refuses one that is mounted.
  const flags = constants.O_RDWR | constants.O_EXCL | constants.O_NOFOLLOW;
  await using target = await open(device, flags);
  // Everything is recognised before anything is written.
  for (const { file, extents } of located) await requireMark(target, file, extents ?? []);
  for (const { file, extents } of located) {
    for (const { offset, at, bytes } of piecesOf(extents ?? [], file.contents.length)) {
      await target.write(file.contents, at, bytes, offset);
    }
  }
  await target.datasync();
}

async function requireMark(
  target: FileHandle,
  { name, mark, contents }: Overwritten,
  extents: readonly Extent[],
): Promise<void> {
  const present = Buffer.alloc(contents.length);
  let found = 0;
  for (const { offset, at, bytes } of piecesOf(extents, contents.length)) {
    found += (await target.read(present, at, bytes, offset)).bytesRead;
  }
  const isWhole =
    found === contents.length && present.subarray(0, mark.length).equals(Buffer.from(mark));
  if (!isWhole) throw new Error(`${name} is not where it should be, or not what it should be`);
}

/** Which part of `length` bytes belongs where. */
function* piecesOf(extents: readonly Extent[], length: number) {
  let at = 0;
  for (const extent of extents) {
    const bytes = Math.min(extent.bytes, length - at);
    if (bytes <= 0) return;
    yield { offset: extent.offset, at, bytes };
    at += bytes;
  }
}

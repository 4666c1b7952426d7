import { type FileHandle, open } from 'node:fs/promises';
import { isOfSystem, MAX_DEPTH, type MediumEntry, refused } from './collect.ts';
import { type FatEntry, fatEntriesIn } from './fat-entries.ts';
import { BOOT_BYTES, type FatLayout, fatLayout, nextCluster, tableOffset } from './fat-layout.ts';
import type { Extent } from './in-place/extent.ts';

/** No folder may have more entries than this (FAT32 File System Specification). */
const MAX_FOLDER_BYTES = 65_536 * 32;

/** A name of at most 8 and 3 characters that is stored in capitals only, since FAT does not tell them apart. */
const SHORT_NAME = /^[^a-z/.]{1,8}(\.[^a-z/.]{1,3})?$/;

/** As other systems show it: short names in small letters. */
const shownName = (name: string): string => (SHORT_NAME.test(name) ? name.toLowerCase() : name);

/**
 * The entries of a FAT file system. It has neither links nor devices. Every chain of clusters is bounded by the size
 * that its entry states, and that of a folder by what a folder may have.
 */
export async function* fatEntries(device: string): AsyncGenerator<MediumEntry> {
  await using file = await open(device, 'r');
  const volume = await openFat(file);

  async function* entriesIn(
    folder: Buffer,
    prefix: string,
    depth: number,
  ): AsyncGenerator<MediumEntry> {
    if (depth > MAX_DEPTH) throw refused(`folders in folders, more than ${MAX_DEPTH}`);
    for (const entry of fatEntriesIn(folder)) {
      if (isOfSystem(entry.name)) continue;
      const name = `${prefix}${shownName(entry.name)}`;
      const { isFolder, size } = entry;
      yield {
        ...{ name, kind: isFolder ? 'directory' : 'file', size },
        read: () => volume.contents(entry, name),
      };
      if (isFolder) yield* entriesIn(await volume.folder(entry, name), `${name}/`, depth + 1);
    }
  }

  yield* entriesIn(await volume.top(), '', 1);
}

/** Where the data of a file in the top folder lies; undefined if it is not there. @throws Failure (usage) */
export async function fatExtents(
  device: string,
  name: string,
): Promise<readonly Extent[] | undefined> {
  await using file = await open(device, 'r');
  const volume = await openFat(file);
  for (const entry of fatEntriesIn(await volume.top())) {
    if (!entry.isFolder && entry.name.toLowerCase() === name.toLowerCase()) {
      return await volume.extents(entry, name);
    }
  }
  return undefined;
}

/** @throws Failure (usage) if there is no FAT file system */
async function openFat(file: FileHandle) {
  const layout = fatLayout(await bytesAt(file, { offset: 0, bytes: BOOT_BYTES }));
  return {
    async top(): Promise<Buffer> {
      const { top } = layout;
      if ('offset' in top) return bytesAt(file, top);
      return read(await chain(file, layout, top.cluster, MAX_FOLDER_BYTES, 'the top folder'));
    },
    async folder({ cluster }: FatEntry, name: string): Promise<Buffer> {
      return read(
        await chain(file, layout, cluster, MAX_FOLDER_BYTES, `the folder ${shown(name)}`),
      );
    },
    extents,
    async contents(entry: FatEntry, name: string): Promise<Uint8Array> {
      return read(await extents(entry, name));
    },
  };

  async function extents({ cluster, size }: FatEntry, name: string): Promise<Extent[]> {
    if (size === 0) return [];
    const found = await chain(file, layout, cluster, size, shown(name));
    const bytes = found.reduce((sum, extent) => sum + extent.bytes, 0);
    if (bytes < size) throw damaged(`${shown(name)} has ${bytes} of ${size} bytes`);
    return found;
  }

  async function read(extents: readonly Extent[]): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (const extent of extents) pieces.push(await bytesAt(file, extent));
    return Buffer.concat(pieces);
  }
}

/**
 * The runs of clusters that follow each other in the table from one of them on, up to that many bytes.
 *
 * @throws Failure (usage) if the chain leads back into itself, or out of the file system
 */
async function chain(
  file: FileHandle,
  layout: FatLayout,
  first: number,
  maxBytes: number,
  what: string,
): Promise<Extent[]> {
  const { clusterBytes, data, lastCluster } = layout;
  if (first < 2 || first > lastCluster) throw damaged(`${what} begins outside`);
  const seen = new Set<number>();
  const extents: { offset: number; bytes: number }[] = [];
  let left = maxBytes;
  let cluster = first;
  for (;;) {
    if (seen.has(cluster)) throw damaged(`${what} leads back into itself`);
    seen.add(cluster);
    const offset = data + (cluster - 2) * clusterBytes;
    const bytes = Math.min(clusterBytes, left);
    const last = extents.at(-1);
    if (last !== undefined && last.offset + last.bytes === offset) last.bytes += bytes;
    else extents.push({ offset, bytes });
    left -= bytes;
    if (left === 0) return extents;
    const entry = { offset: tableOffset(layout, cluster), bytes: layout.bits === 32 ? 4 : 2 };
    const next = nextCluster(layout, cluster, await bytesAt(file, entry));
    if (next === 'damaged') throw damaged(`${what} leads outside`);
    if (next === 'end') return extents;
    cluster = next;
  }
}

async function bytesAt(file: FileHandle, { offset, bytes }: Extent): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, offset);
  if (bytesRead < bytes) throw damaged(`it needs bytes at ${offset}, beyond the medium`);
  return buffer;
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 100));
const damaged = (what: string) => refused(`a damaged file system: ${what}`);

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { tarEntries } from '../base/archive/tar.ts';
import { ifMissing } from '../host/files.ts';

/** What one layer of an image unpacks: a file's SHA-256, a link's target, or a folder. */
type LayerFile =
  | { readonly type: 'file'; readonly size: number; readonly sha256: string }
  | { readonly type: 'symlink'; readonly target: string }
  | { readonly type: 'directory' };

/** By path in the layer. */
export type LayerFiles = ReadonlyMap<string, LayerFile>;

/** Far above any image of a control plane; the digest of the archive was verified before. */
export const layerLimits = { entries: 500_000, bytes: 16 * 2 ** 30 };

/** Entries that delete something of a layer below: in a folder of overlayfs they are no files. */
const WHITEOUT = '.wh.';

/**
 * The files that a layer unpacks. Devices and pipes are left out.
 *
 * @param layer an uncompressed tar.
 * @throws Failure (usage) if it is damaged
 */
export async function layerFiles(
  layer: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<LayerFiles> {
  const files = new Map<string, LayerFile>();
  for await (const entry of tarEntries(layer, signal, layerLimits, "an image's files")) {
    const path = entry.name.replace(/\/+$/, '');
    if (path === '' || path === '.' || path.split('/').some((part) => part.startsWith(WHITEOUT))) {
      continue;
    }
    // The last entry of a name is the one that stays.
    files.delete(path);
    const { type, size, target } = entry;
    if (type === 'file') files.set(path, { type, size, sha256: await hashOf(entry.content) });
    if (type === 'symlink') files.set(path, { type, target });
    if (type === 'directory') files.set(path, { type });
    const same = files.get(target.replace(/^(\.\/)+/, ''));
    if (type === 'link' && same !== undefined) files.set(path, same);
  }
  return files;
}

async function hashOf(content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) hash.update(piece);
  return hash.digest('hex');
}

/** The paths of a layer that are symbolic links. */
export const linksIn = (files: LayerFiles): string[] =>
  [...files].flatMap(([path, { type }]) => (type === 'symlink' ? [path] : []));

/**
 * A file that is not as the layer has it, in words; undefined if all are.
 *
 * @param below the symbolic links of the layers below: what has one as a folder may be unpacked where it points.
 */
export async function firstDifference(
  folder: string,
  files: LayerFiles,
  below: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const [path, wanted] of files) {
    signal.throwIfAborted();
    const parents = parentsOf(path);
    // Below a link of the image the host's own files would be read.
    if (parents.some((parent) => files.get(parent)?.type === 'symlink')) continue;
    const found = await difference(join(folder, path), wanted, signal);
    if (found === ABSENT && parents.some((parent) => below.has(parent))) continue;
    if (found !== undefined) return `/${path} ${found}`;
  }
  return undefined;
}

const ABSENT = 'does not exist';

const parentsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

async function difference(
  path: string,
  wanted: LayerFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await lstat(path).catch(ifMissing);
  if (found === undefined) return ABSENT;
  switch (wanted.type) {
    case 'directory':
      return found.isDirectory() ? undefined : 'is no folder';
    case 'symlink':
      if (!found.isSymbolicLink()) return 'is no link';
      return (await readlink(path)) === wanted.target ? undefined : 'is another link';
    case 'file':
      if (!found.isFile()) return 'is no file';
      if (found.size !== wanted.size) return `has ${found.size} of ${wanted.size} bytes`;
      return (await hashOf(createReadStream(path, { highWaterMark: 1 << 20, signal }))) ===
        wanted.sha256
        ? undefined
        : 'has other contents';
  }
}

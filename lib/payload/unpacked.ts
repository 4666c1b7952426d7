import { Failure } from '../base/errors/failure.ts';
import type { Limits } from '../base/wait/limits.ts';
import { sha256 } from '../host/files.ts';
import { readImageArchive, readLayers } from './image/archive.ts';
import type { ArchivedLayer } from './image/contents.ts';
import { placedImages } from './image/places.ts';
import type { ArchivedCopy } from './images.ts';
import { firstDifference, layerFiles, linksIn } from './layer-files.ts';
import type { Snapshots } from './snapshots.ts';

/** A layer of an image, by what runtimes derive their names of unpacked layers from. */
export interface ChainedLayer {
  /** Its name in the archive. */
  readonly entry: string;
  /** Of the layers from the lowest to this one. */
  readonly diffIds: readonly string[];
  /** By which containerd knows it. */
  readonly chainId: string;
}

interface UnpackedLayer extends ChainedLayer {
  /** With its files alone. */
  readonly folder: string;
}

/**
 * Compares what a runtime has unpacked of an image with its archive, by content. Its metadata is no evidence: it is
 * on the disk before the files are.
 *
 * @param folderOf the folder that has the files of this layer alone; undefined if it is not unpacked
 * @returns what is wrong, in words; undefined if all that is unpacked is right, also if nothing is
 */
export async function unpackedDamage(
  image: ArchivedCopy,
  folderOf: (layer: ChainedLayer) => Promise<string | undefined>,
  { signal }: Pick<Limits, 'signal'>,
): Promise<string | undefined> {
  const layers: UnpackedLayer[] = [];
  for (const layer of await chainOf(image, signal)) {
    const folder = await folderOf(layer);
    if (folder === undefined) break;
    layers.push({ ...layer, folder });
  }
  const entries = new Set(layers.map(({ entry }) => entry));
  if (entries.size === 0) return undefined;
  const read = new Map<string, Awaited<ReturnType<typeof layerFiles>>>();
  await readLayers(
    image.path,
    entries,
    async (entry, content) => {
      read.set(entry, await layerFiles(content, signal));
    },
    signal,
  );
  const links = new Set<string>();
  for (const { entry, folder } of layers) {
    const files = read.get(entry) ?? new Map();
    const found = await firstDifference(folder, files, links, signal);
    if (found !== undefined) return found;
    for (const link of linksIn(files)) links.add(link);
  }
  return undefined;
}

/** Whether all layers of the image are unpacked. */
export async function isUnpacked(
  image: ArchivedCopy,
  snapshots: Snapshots,
  limits: Limits,
): Promise<boolean> {
  const top = (await chainOf(image, limits.signal)).at(-1);
  return top === undefined || (await snapshots.folderOf(top.chainId, limits)) !== undefined;
}

/**
 * Removes what is unpacked of an image, whatever named it.
 *
 * @returns false if something needs it: a container, or another image
 */
export async function removeUnpacked(
  image: ArchivedCopy,
  snapshots: Snapshots,
  limits: Limits,
): Promise<boolean> {
  for (const { chainId } of (await chainOf(image, limits.signal)).reverse()) {
    if (!(await snapshots.remove(chainId, limits))) return false;
  }
  return true;
}

/** The layers of the image in its archive, from the lowest. None of an archive that the import will refuse. */
async function chainOf({ path, id }: ArchivedCopy, signal: AbortSignal): Promise<ChainedLayer[]> {
  try {
    // The headers alone are read where the archive is as this project writes it.
    const { images } = (await placedImages(path)) ?? (await readImageArchive(path, signal));
    return withChainIds(images.find((image) => image.id === id)?.layers ?? []);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'usage') return [];
    throw error;
  }
}

/** ChainID of the OCI image specification: of the lowest layer its diff id, of others a digest over those below. */
export function withChainIds(layers: readonly ArchivedLayer[]): ChainedLayer[] {
  let below: string | undefined;
  const diffIds: string[] = [];
  return layers.map(({ entry, diffId }) => {
    const own = `sha256:${diffId}`;
    below = below === undefined ? own : `sha256:${sha256(`${below} ${own}`)}`;
    diffIds.push(diffId);
    return { entry, diffIds: [...diffIds], chainId: below };
  });
}

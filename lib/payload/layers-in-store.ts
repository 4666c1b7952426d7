import type { ReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Limits } from '../base/wait/limits.ts';
import { run } from '../host/command.ts';
import { exists } from '../host/files.ts';
import type { ArchivedImage } from './image/contents.ts';
import { type Place, placedImages } from './image/places.ts';
import { thinArchive } from './image/thin.ts';
import type { ArchivedCopy } from './images.ts';

/** Below containerd's root: its content store, each blob by its digest. */
const BLOBS = 'io.containerd.content.v1.content/blobs/sha256';

/** Runs `ctr` with these arguments; its standard input is nothing, these bytes, or this open file. */
export type Ctr = (
  args: readonly string[],
  limits: Limits,
  input?: Uint8Array | ReadStream,
) => Promise<void>;

/**
 * Imports an image without a second and third look at its layers: they are copied from the archive into
 * containerd's content store, where containerd finds them instead of receiving and hashing them. What it unpacks it compares with
 * the diff ids of the image's configuration, so that a damaged layer is still refused.
 *
 * The order is that which survives a collection of garbage at any moment: first the image names its layers, then
 * they come.
 *
 * @returns why it was not done, if that is not how this archive or this containerd is made: nothing but an image without
 *   layers is left. Undefined if it was.
 * @throws Failure if ctr fails
 */
export async function importInPlace(
  image: ArchivedCopy,
  root: string,
  ctr: Ctr,
  limits: Limits,
): Promise<string | undefined> {
  const placed = await placedImages(image.path);
  const found = placed?.images.find(({ id }) => id === image.id);
  if (placed === undefined || found === undefined) return 'its archive is not laid out for it';
  const layers = layersOf(found, placed.places);
  const { archive, manifest } = await thinArchive({
    ...{ reference: image.reference, config: found.config, layers },
  });
  await ctr(['images', 'import', '--no-unpack', '-'], limits, archive);
  const blobs = join(root, BLOBS);
  // Only the store of this containerd has what it has just received.
  if (!(await exists(join(blobs, manifest)))) return `${blobs} is not this containerd's store`;
  for (const layer of layers) await placeLayer(image, layer, blobs, ctr, limits);
  await ctr(['images', 'import', '-'], limits, archive);
  return undefined;
}

interface PlacedLayer extends Place {
  readonly diffId: string;
}

const layersOf = (
  { layers }: ArchivedImage,
  places: ReadonlyMap<string, Place>,
): readonly PlacedLayer[] =>
  layers.flatMap(({ entry, diffId }) => {
    const place = places.get(entry);
    return place === undefined ? [] : [{ diffId, ...place }];
  });

/** What is there is replaced: a blob without a name in containerd's database may be from before a power cut. */
async function placeLayer(
  { name, path }: ArchivedCopy,
  { diffId, start, size }: PlacedLayer,
  blobs: string,
  ctr: Ctr,
  limits: Limits,
): Promise<void> {
  // Of this image, since another one with the same layer may be imported meanwhile.
  const beside = join(blobs, `.sno-agents-${name}-${diffId}`);
  await using file = await placed(beside, join(blobs, diffId), () =>
    copyRange(path, beside, { start, size }, limits),
  );
  const expected = [`--expected-size=${size}`, `--expected-digest=sha256:${diffId}`];
  // containerd takes what is there. If it has collected that meanwhile, it reads the open file.
  await ctr(
    ['content', 'ingest', ...expected, `sno-agents-${name}-${diffId}`],
    limits,
    file.createReadStream(),
  );
}

/** The open file, since a blob that no database names may be gone as soon as it is in place. */
async function placed(
  beside: string,
  blob: string,
  write: () => Promise<void>,
): Promise<FileHandle> {
  try {
    await write();
    const file = await open(beside);
    try {
      await rename(beside, blob);
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } finally {
    await rm(beside, { force: true });
  }
}

async function copyRange(from: string, to: string, { start, size }: Place, limits: Limits) {
  await run(
    'dd',
    [
      ...[`if=${from}`, `of=${to}`, 'bs=1M', 'iflag=skip_bytes,count_bytes,fullblock'],
      ...[`skip=${start}`, `count=${size}`, 'status=none'],
    ],
    limits,
  );
}

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { atMost } from '../../base/archive/at-most.ts';
import { tarEntries } from '../../base/archive/tar.ts';
import { Failure } from '../../base/errors/failure.ts';
import { type Compression, compressionOf, decompressed } from './compression.ts';
import {
  type ArchivedImage,
  beginsLikeJson,
  type Contents,
  type Format,
  imagesIn,
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS_BYTES,
} from './contents.ts';

/** An archive of images and its contents. */
export interface ImageArchive {
  path: string;
  format: Format;
  compression: Compression;
  images: ArchivedImage[];
}

/**
 * Reads which images an archive contains: a docker archive or an OCI layout in a
 * tar (as written by `podman save`, `docker save` and `skopeo copy`), optionally
 * compressed with gzip or zstd. Layers are skipped; `readLayers` reads them.
 * @throws Failure (usage) for anything else, and for a damaged archive.
 */
export async function readImageArchive(path: string, signal: AbortSignal): Promise<ImageArchive> {
  const compression = compressionOf(await firstBlock(path));
  const contents: Contents = { entries: new Map(), documents: new Map() };
  let room = MAX_DOCUMENTS_BYTES;
  for await (const { name, type, size, content } of tarEntries(streamOf(path), signal)) {
    if (type === 'directory') continue;
    if (contents.entries.has(name)) throw twice(name);
    contents.entries.set(name, type);
    if (type !== 'file' || size > MAX_DOCUMENT_BYTES) continue;
    const document = await readDocument(content);
    if (document === undefined) continue;
    room -= size;
    if (room < 0) throw tooMuch();
    contents.documents.set(name, document);
  }
  return { path, compression, ...imagesIn(contents) };
}

/**
 * Passes each of the named layers, decompressed, to `visit`, in the order of the
 * archive.
 * @throws Failure (usage) if a layer exceeds the maximum size.
 */
export async function readLayers(
  path: string,
  entries: ReadonlySet<string>,
  visit: (entry: string, content: AsyncIterable<Buffer>) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for await (const { name, type, content } of tarEntries(streamOf(path), signal)) {
    if (type !== 'file' || !entries.has(name)) continue;
    await visit(name, atMost(decompressed(content), MAX_LAYER_BYTES, tooLarge));
  }
}

/**
 * A layer of this size would not fit a host; anything that expands to more is a
 * decompression bomb.
 */
const MAX_LAYER_BYTES = 16 * 2 ** 30;

const tooLarge = () => new Failure('usage', 'a layer expands to more than 16 GiB');

const streamOf = (path: string) => decompressed(createReadStream(path, { highWaterMark: 1 << 20 }));

/** The contents of a file that begins like JSON; undefined for a layer of that size. */
async function readDocument(content: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let isDocument = false;
  for await (const piece of content) {
    if (pieces.length === 0) isDocument = beginsLikeJson(piece);
    if (isDocument) pieces.push(piece);
  }
  return isDocument ? Buffer.concat(pieces) : undefined;
}

/** @throws Failure (usage) for the end of an archive: what follows it, such as the rest of a sparse file, would be read in vain */
async function firstBlock(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
  const block = buffer.subarray(0, bytesRead);
  if (bytesRead === 0 || block.some((byte) => byte !== 0)) return block;
  throw new Failure('usage', 'not an image archive', { found: 'zeros at its beginning' });
}

const twice = (name: string) => new Failure('usage', `not an image archive: ${name} occurs twice`);
const tooMuch = () =>
  new Failure('usage', 'not an image archive', {
    expected: `at most ${MAX_DOCUMENTS_BYTES >> 20} MiB of manifests and configurations`,
  });

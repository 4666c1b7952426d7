import { type FileHandle, open } from 'node:fs/promises';
import {
  type ArchivedImage,
  beginsLikeJson,
  type Contents,
  imagesIn,
  MAX_DOCUMENT_BYTES,
  MAX_DOCUMENTS_BYTES,
} from './contents.ts';

/** Bytes of an archive: a file in it. */
export interface Place {
  readonly start: number;
  readonly size: number;
}

/** The images of an uncompressed archive, with the places of its files. */
export interface PlacedImages {
  readonly images: readonly ArchivedImage[];
  /** By the names of files in the archive, such as `ArchivedLayer.entry`. */
  readonly places: ReadonlyMap<string, Place>;
}

/** Of a header, and of what the contents of a file are filled up to: tar(5), "ustar". */
const BLOCK = 512;
const MAX_FILES = 2000;

/**
 * Finds the files of an archive by reading their headers alone, half a kilobyte each, and its JSON documents:
 * for archives as `sno create payload` writes them. They are not verified.
 *
 * @returns undefined for anything else, which readImageArchive may still read: a compressed archive, long names, links
 * @throws Failure (usage) for an archive of plain files that has no image
 */
export async function placedImages(path: string): Promise<PlacedImages | undefined> {
  await using file = await open(path);
  const places = new Map<string, Place>();
  let position = 0;
  for (;;) {
    const header = await read(file, { start: position, size: BLOCK });
    if (header === undefined) return undefined;
    if (header.every((byte) => byte === 0)) break;
    const entry = plainFile(header);
    if (entry === undefined || places.has(entry.name) || places.size === MAX_FILES)
      return undefined;
    const start = position + BLOCK;
    places.set(entry.name, { start, size: entry.size });
    position = start + Math.ceil(entry.size / BLOCK) * BLOCK;
  }
  const contents: Contents = {
    entries: new Map([...places.keys()].map((name) => [name, 'file'])),
    documents: new Map(),
  };
  let room = MAX_DOCUMENTS_BYTES;
  for (const [name, place] of places) {
    const document = await readDocument(file, place);
    if (document === undefined) continue;
    room -= document.length;
    if (room < 0) return undefined;
    contents.documents.set(name, document);
  }
  return { images: imagesIn(contents).images, places };
}

/** Name and size of a regular file; undefined for any other header. */
function plainFile(header: Buffer): { name: string; size: number } | undefined {
  const text = (start: number, end: number) =>
    header.subarray(start, end).toString('latin1').replace(/\0.*$/s, '');
  const name = text(0, 100);
  const size = /^[0-7]{1,12} ?$/.exec(text(124, 136))?.[0];
  const isFile = ['0', ''].includes(text(156, 157));
  if (name === '' || size === undefined || !isFile || text(345, 500) !== '') return undefined;
  return { name, size: Number.parseInt(size, 8) };
}

async function readDocument(file: FileHandle, place: Place): Promise<Buffer | undefined> {
  if (place.size > MAX_DOCUMENT_BYTES) return undefined;
  const beginning = await read(file, { ...place, size: Math.min(16, place.size) });
  return beginning !== undefined && beginsLikeJson(beginning) ? read(file, place) : undefined;
}

/** Undefined if the file ends before. */
async function read(file: FileHandle, { start, size }: Place): Promise<Buffer | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, start);
  return bytesRead === size ? buffer : undefined;
}

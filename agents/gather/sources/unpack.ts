import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ArchiveEnd,
  type ArchiveLimits,
  atMostOfBundle,
  readArchive,
} from '../../../report/archive/read-archive.ts';
import { openRegular } from './file.ts';

export interface UnpackedFile {
  /** Path in the archive, without its top-level folder. */
  readonly name: string;
  /** Path after unpacking. */
  readonly place: string;
}

export interface Unpacked extends ArchiveEnd {
  readonly files: readonly UnpackedFile[];
}

/**
 * Unpacks an untrusted .tar.gz into `folder` under generated names: nothing in the archive
 * decides where something is written. Complete files before damage or a limit are kept. Rejects
 * only if the archive cannot be opened or `signal` aborts.
 */
export async function unpack(
  archive: string,
  folder: string,
  limits: ArchiveLimits,
  signal: AbortSignal,
): Promise<Unpacked> {
  const files: UnpackedFile[] = [];
  await using handle = await openRegular(archive);
  const gunzip = createGunzip();
  // Failures reach the reader of the decompressed stream.
  pipeline(handle.createReadStream({ autoClose: false }), gunzip, () => undefined);
  const end = await readArchive(gunzip, limits, signal, async ({ name, content }) => {
    const place = join(folder, `${files.length}${name.endsWith('.gz') ? '.gz' : ''}`);
    await using copy = await open(place, 'wx', 0o600);
    for await (const chunk of content) {
      if (chunk instanceof Uint8Array) await copy.writeFile(chunk);
    }
    files.push({ name, place });
  });
  return { files, ...end };
}

/** The contents of an unpacked file up to a limit, decompressed if they were compressed in the archive. */
export async function* unpackedContents(
  place: string,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const file = createReadStream(place, { signal, highWaterMark: 256 * 1024 });
  // Errors reach the reader of the decompressed bytes.
  const unpacked = () => pipeline(file, createGunzip(), () => undefined);
  yield* place.endsWith('.gz') ? atMostOfBundle(unpacked(), limit) : file;
}

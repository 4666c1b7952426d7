import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Source } from '../source.ts';
import { type Differences, usual } from './command.ts';
import { below, type WalkLimits, walkLimits } from './walk.ts';

const CHUNK_BYTES = 256 * 1024;

export interface FileSource extends Source {
  /** Path on this host. */
  readonly place: string;
}

/**
 * A file of the host. Links are not followed; if `keep` is the newest part, only the end of a
 * large file is read. Files that end in `.gz` are decompressed.
 */
export function file(path: string, place: string, differences: Differences = {}): FileSource {
  const source = { ...usual, ...differences, path, place };
  return {
    ...source,
    open: (_, signal) =>
      contents(place, source.keep === 'newest' ? source.limitBytes : undefined, signal),
  };
}

/** Like `file`, for a path that may be a link: its target must be in one of the folders. */
export function linkedFile(
  path: string,
  place: string,
  folders: readonly string[],
  differences: Differences = {},
): FileSource {
  const source = file(path, place, differences);
  return {
    ...source,
    async *open(_, signal) {
      yield* contents(await endOfLinks(place, folders), source.limitBytes, signal);
    },
  };
}

/** The resolved path. @throws Failure if it is in none of the folders. */
export async function endOfLinks(place: string, folders: readonly string[]): Promise<string> {
  const end = await realpath(place);
  // The folder may itself be reached through a link, as /opt is on CoreOS.
  const ends = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  if (ends.some((folder) => end.startsWith(`${folder}${sep}`))) return end;
  throw new Failure('fatal', `${place} is a link that leads elsewhere`, {
    expected: `a file in ${folders.join(', ')}`,
  });
}

/** The files below a folder, by their relative paths; none if the folder does not exist. */
export async function filesBelow(folder: string, limits: WalkLimits = walkLimits) {
  const found = await below(folder, limits);
  return found.filter(({ kind }) => kind === 'file').map(({ name }) => name);
}

type FolderOptions = Differences & {
  /** Selects files by their path in the folder. */
  readonly wanted?: RegExp;
  /** Levels of folders, including this one. */
  readonly depth?: number;
};

/** A source below `path` for each wanted file of a folder. */
export async function folder(
  path: string,
  place: string,
  { wanted = /[^/]$/, depth = walkLimits.depth, ...differences }: FolderOptions = {},
): Promise<FileSource[]> {
  const names = await filesBelow(place, { ...walkLimits, depth });
  return names
    .filter((name) => wanted.test(name) && isPlain(name))
    .map((name) => file(join(path, name), join(place, name), differences));
}

/** Names become paths in the bundle: no control or format characters that terminals or other systems interpret. */
export const isPlain = (name: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(name);

/** By a file's name. */
export function formatOf(name: string): Source['format'] {
  const plain = basename(name).replace(/\.gz$/, '');
  return /\.(json|jsonl|inspect)$/.test(plain) ? 'json' : 'text';
}

/**
 * The bytes of a regular file; a chunk is good until the next is asked for. `lastBytes`: only the end of a
 * longer file is read, from the beginning of a line.
 */
export async function* contents(
  place: string,
  lastBytes: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  await using handle = await openRegular(place);
  const { size } = await handle.stat();
  const isPacked = place.endsWith('.gz');
  const start = isPacked || lastBytes === undefined ? 0 : Math.max(0, size - lastBytes);
  if (isPacked) {
    const bytes = handle.createReadStream({ signal, autoClose: false, highWaterMark: CHUNK_BYTES });
    // Errors reach the reader of the decompressed bytes.
    yield* pipeline(bytes, createGunzip(), () => undefined);
  } else {
    const bytes = bytesOf(handle, start, signal);
    yield* start === 0 ? bytes : fromNextLine(bytes);
  }
}

/** All chunks are in the same memory: a stream of new buffers would outpace garbage collection. */
async function* bytesOf(
  handle: FileHandle,
  start: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let at = start; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

/** Opened without following a link. @throws Failure if it is not a regular file. */
export async function openRegular(place: string): Promise<FileHandle> {
  const handle = await open(
    place,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    if ((await handle.stat()).isFile()) return handle;
    throw new Failure('fatal', `${place} is not a regular file`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function* fromNextLine(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isLine = false;
  for await (const chunk of chunks) {
    const end: number = isLine ? 0 : chunk.indexOf(0x0a) + 1;
    isLine ||= end > 0;
    if (isLine) yield chunk.subarray(end);
  }
}

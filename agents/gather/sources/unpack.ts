import { constants, createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { Failure } from '../../../lib/errors/failure.ts';
import { openRegular } from './file.ts';

export interface UnpackLimits {
  readonly entries: number;
  /** Of one file; a larger one is left out. */
  readonly fileBytes: number;
  /** Of everything that is decompressed, headers included. */
  readonly bytes: number;
}

export interface UnpackedFile {
  /** In the archive, without its first folder. */
  readonly name: string;
  /** Where it lies now. */
  readonly place: string;
}

export interface Unpacked {
  readonly files: readonly UnpackedFile[];
  /** What was not taken, for people: at most a few of them. */
  readonly refused: readonly string[];
  /** Why the rest of the archive could not be read. */
  readonly failure?: unknown;
}

const MAX_REFUSED = 20;

/**
 * Unpacks a .tar.gz that nobody vouches for into `folder`: regular files alone, under names
 * of our own, so that nothing in the archive decides where something is written. Whole files
 * before damage or a limit are kept. Rejects only if the archive cannot be opened or `signal` says stop.
 */
export async function unpack(
  archive: string,
  folder: string,
  limits: UnpackLimits,
  signal: AbortSignal,
): Promise<Unpacked> {
  const files: UnpackedFile[] = [];
  const taken = new Names();
  const refused: string[] = [];
  const handle = await openRegular(archive);
  const entries = extract();
  const reading = pipeline(
    handle.createReadStream({ autoClose: false }),
    createGunzip(),
    (chunks: AsyncIterable<Uint8Array>) => atMost(chunks, limits.bytes),
    entries,
    { signal },
  );
  // Awaited below, after what was read of it.
  reading.catch(() => undefined);
  let failure: unknown;
  try {
    let count = 0;
    for await (const entry of entries) {
      if (++count > limits.entries) throw tooMuch(`${limits.entries} entries`);
      const { type, size = 0 } = entry.header;
      const name = nameInBundle(entry.header.name);
      const isWanted = type === 'file' && name !== undefined && taken.add(name);
      if (isWanted && size <= limits.fileBytes) {
        const place = join(folder, `${files.length}${name.endsWith('.gz') ? '.gz' : ''}`);
        await write(entry, place);
        files.push({ name, place });
        continue;
      }
      if (type !== 'directory') refused.push(JSON.stringify(entry.header.name.slice(0, 200)));
      entry.resume();
    }
    await reading;
  } catch (error) {
    signal.throwIfAborted();
    failure = error;
  } finally {
    entries.destroy();
    await reading.catch(() => undefined);
    await handle.close();
  }
  const told = refused.slice(0, MAX_REFUSED);
  if (refused.length > told.length) told.push(`${refused.length - told.length} more`);
  return { files, refused: told, ...(failure === undefined ? {} : { failure }) };
}

/** Names that were taken: none twice, and none below another, which no file system could hold. */
class Names {
  readonly #files = new Set<string>();
  readonly #folders = new Set<string>();

  add(name: string): boolean {
    const parts = name.split('/');
    const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
    if (this.#files.has(name) || this.#folders.has(name)) return false;
    if (folders.some((folder) => this.#files.has(folder))) return false;
    this.#files.add(name);
    for (const folder of folders) this.#folders.add(folder);
    return true;
  }
}

/**
 * A path of the archive without its first folder; undefined for what has none, leads out of
 * it, or has characters that a terminal or another system reads as more than a name. Units
 * have backslashes in their names, before two hexadecimal digits.
 */
export function nameInBundle(written: string): string | undefined {
  const parts = written.replace(/^(\.\/)+/, '').split('/');
  const [, ...inside] = parts;
  const isSafe = parts.every(
    (part) =>
      part !== '' &&
      part !== '.' &&
      part !== '..' &&
      Buffer.byteLength(part) <= 200 &&
      !/[\p{Cc}\p{Cf}\p{Cs}\u{fffd}]|\\(?!x[0-9a-f]{2})/u.test(part),
  );
  return isSafe && inside.length > 0 && inside.length <= 12 ? inside.join('/') : undefined;
}

async function write(entry: AsyncIterable<unknown>, place: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(place, flags, 0o600);
  try {
    for await (const chunk of entry) if (chunk instanceof Uint8Array) await handle.writeFile(chunk);
  } finally {
    await handle.close();
  }
}

async function* atMost(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limit) throw tooMuch(`${Math.round(limit / 1024 ** 2)} MiB`);
    yield chunk;
  }
}

const tooMuch = (limit: string) =>
  new Failure('fatal', 'the archive is larger than a log bundle may be', {
    found: `over ${limit}`,
  });

/** The contents of an unpacked file, decompressed if they were compressed in the archive, up to a limit. */
export async function* unpackedContents(
  place: string,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const file = createReadStream(place, { signal, highWaterMark: 256 * 1024 });
  if (!place.endsWith('.gz')) {
    yield* file;
    return;
  }
  const unpacked = createGunzip();
  const reading = pipeline(file, unpacked);
  reading.catch(() => undefined);
  yield* atMost(unpacked, limit);
}

import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { Failure } from '../../base/errors/failure.ts';

export type Compression = 'none' | 'gzip' | 'zstd';

const MAGIC_BYTES = 4;
/** Large, because each piece is passed between threads. */
const CHUNK_BYTES = 1 << 18;

const decompressors: Readonly<Record<Exclude<Compression, 'none'>, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: CHUNK_BYTES }),
};

/** The compression of a file, by its first bytes. */
export function compressionOf(start: Buffer): Compression {
  if (start.subarray(0, 3).toString('hex') === '1f8b08') return 'gzip';
  return start.subarray(0, MAGIC_BYTES).toString('hex') === '28b52ffd' ? 'zstd' : 'none';
}

/** Decompresses gzip or zstd off the event loop; passes other bytes through. */
export async function* decompressed(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const [start, rest] = await peek(source);
  const compression = compressionOf(start);
  if (compression === 'none') {
    yield* rest;
    return;
  }
  // Errors reach the reader below, as an error of the last stream.
  const output = pipeline(Readable.from(rest), decompressors[compression](), () => undefined);
  try {
    yield* output;
  } catch (error) {
    throw damage(compression, error);
  }
}

/**
 * zlib and zstd report damage with errors of their own; errors of the source are
 * passed on unchanged.
 */
function damage(compression: Compression, error: unknown): unknown {
  const isOwn =
    error instanceof Error && 'code' in error && /^(Z|ZSTD)_|^ERR_/.test(String(error.code));
  if (!isOwn) return error;
  return new Failure('usage', `truncated or damaged ${compression} data`, { found: error.message });
}

/** At least four bytes from the start (fewer if it ends before), and the whole stream. */
async function peek(
  source: AsyncIterable<Buffer>,
): Promise<[start: Buffer, whole: AsyncIterable<Buffer>]> {
  const pieces = source[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  let ended = false;
  while (start.length < MAGIC_BYTES && !ended) {
    const next = await pieces.next();
    if (next.done === true) ended = true;
    else start = start.length === 0 ? next.value : Buffer.concat([start, next.value]);
  }
  return [start, whole()];

  async function* whole(): AsyncGenerator<Buffer> {
    try {
      if (start.length > 0) yield start;
      while (!ended) {
        const next = await pieces.next();
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await pieces.return?.();
    }
  }
}

import type { Transform } from 'node:stream';
import {
  constants,
  createInflateRaw,
  createZstdDecompress,
  inflateRawSync,
  zstdDecompressSync,
} from 'node:zlib';
import { gzipBody, gzipMagic } from './gzip.ts';
import { ZstdExtent, zstdMagic } from './zstd.ts';

/** By which a gzip member or a zstd frame begins. */
export const packedMagics: readonly Buffer[] = [gzipMagic, zstdMagic];

/** A gzip member without its header, or a zstd frame: up to its end or that of the bytes. */
export interface Packed {
  readonly bytes: Buffer;
  /** Of a zstd frame. The end of a gzip member is known only once it is decompressed. */
  readonly extent?: ZstdExtent;
}

/** What begins at one of the magics; 'more': its header ends after the window; undefined: noise. */
export function packedAt(window: Buffer, at: number): Packed | 'more' | undefined {
  if (window[at] === gzipMagic[0]) {
    const body = gzipBody(window, at);
    return typeof body === 'number' ? { bytes: window.subarray(body) } : body;
  }
  const extent = new ZstdExtent();
  const length = extent.take(window.subarray(at));
  if (extent.isInvalid) return undefined;
  return { bytes: window.subarray(at, at + length), extent };
}

/** What is packed anywhere in bytes to which nothing is added. */
export function* packedIn(bytes: Buffer): Generator<Packed> {
  for (const magic of packedMagics) {
    for (let at = bytes.indexOf(magic); at !== -1; at = bytes.indexOf(magic, at + magic.length)) {
      const packed = packedAt(bytes, at);
      if (packed !== undefined && packed !== 'more') yield packed;
    }
  }
}

export interface UnpackOptions {
  /** Most bytes that it may expand to. */
  readonly limit: number;
  /** Take what there is of contents whose end is missing. */
  readonly isPartial?: boolean;
}

/**
 * Decompresses at once. 'cut-off': the end is missing; 'too-large': it expands to more than the
 * limit; undefined: damaged, or noise that looked like a header. Checksums are not compared.
 */
export function unpack(
  { bytes, extent }: Packed,
  { limit, isPartial = false }: UnpackOptions,
): Buffer | 'cut-off' | 'too-large' | undefined {
  if (limit <= 0) return 'too-large';
  if (extent?.isOver === false && !isPartial) return 'cut-off';
  const options = { maxOutputLength: limit };
  try {
    if (extent === undefined) {
      // Ends with the member, whatever follows it.
      return inflateRawSync(bytes, isPartial ? { ...options, ...partialInflate } : options);
    }
    return zstdDecompressSync(bytes, isPartial ? { ...options, ...partialZstd } : options);
  } catch (error) {
    const code = zlibCode(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') return 'too-large';
    if (code === 'Z_BUF_ERROR') return 'cut-off';
    if (isNoPackedStream(error)) return undefined;
    throw error;
  }
}

/** Flushed at the end, a stream that was cut off gives what there is instead of an error. */
const partialInflate = { finishFlush: constants.Z_SYNC_FLUSH } as const;
const partialZstd = { finishFlush: constants.ZSTD_e_flush } as const;
const outputChunk = { chunkSize: 1 << 18 } as const;

/** For contents that are too large for `unpack`, or not all there yet. */
export function unpackingStream({ extent }: Packed): Transform {
  return extent === undefined
    ? createInflateRaw({ ...outputChunk, ...partialInflate })
    : createZstdDecompress({ ...outputChunk, ...partialZstd });
}

/** Whether zlib or zstd could not read on: `Z_DATA_ERROR`, `ZSTD_error_corruption_detected`. */
export function isNoPackedStream(error: unknown): boolean {
  const code = zlibCode(error);
  return /^(Z_|ZSTD_|ERR_ZSTD)/.test(code) || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function zlibCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

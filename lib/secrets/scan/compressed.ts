import {
  constants,
  createInflateRaw,
  createZstdDecompress,
  inflateRawSync,
  zstdDecompressSync,
} from 'node:zlib';
import { Decompression, isCutOff, isNoCompressedStream, isTooLarge } from './decompression.ts';
import { type ByteSink, type Finder, markerFinder } from './finder.ts';
import { gzipBody, gzipMagic } from './gzip.ts';
import type { Pending, Scan } from './scan.ts';
import { ZstdExtent, zstdMagic } from './zstd.ts';

/** What a short stream may grow to in one go, a few milliseconds of work. */
const maxOutputLength = 4 << 20;
const outputChunk = { chunkSize: 1 << 18 } as const;

/** A stream that began in an earlier window, and how much of what follows is its own. */
interface Continued {
  readonly decompression: Decompression;
  readonly extent: ZstdExtent | undefined;
}

/**
 * Finds gzip members and zstd frames anywhere in a stream and gives what they hold
 * to new sinks. Those that end in the window they begin in are decompressed at once,
 * which also sorts out noise; the others go on as streams.
 */
export class CompressedContent {
  readonly #scan: Scan;
  readonly #pending: Pending;
  readonly #open: (pending: Pending) => ByteSink;
  #continued: Continued[] = [];

  constructor(scan: Scan, pending: Pending, open: (pending: Pending) => ByteSink) {
    this.#scan = scan;
    this.#pending = pending;
    this.#open = open;
  }

  /** Gives new bytes to the streams that began before them. Comes before the finders. */
  push(bytes: Buffer): void {
    this.#continued = this.#continued.filter(({ decompression }) => !decompression.isOver);
    for (const { decompression, extent } of this.#continued) {
      const own = extent === undefined ? bytes : bytes.subarray(0, extent.take(bytes));
      this.#pending.add(decompression.write(own));
      if (extent?.isOver) this.#pending.add(decompression.end());
    }
    this.#continued = this.#continued.filter(({ extent }) => !extent?.isOver);
  }

  /** No more bytes come. */
  end(): void {
    for (const { decompression } of this.#continued) this.#pending.add(decompression.end());
    this.#continued = [];
  }

  readonly finders: readonly Finder[] = [
    markerFinder(gzipMagic, (window, at) => {
      const body = gzipBody(window, at);
      if (body === 'more') return 'more';
      if (body !== undefined) this.#gzip(window.subarray(body));
      return 'seen';
    }),
    markerFinder(zstdMagic, (window, at) => {
      this.#zstd(window.subarray(at));
      return 'seen';
    }),
  ];

  #gzip(bytes: Buffer): void {
    try {
      // Ends with the member: what follows it is looked at as it is.
      this.#look(inflateRawSync(bytes, { maxOutputLength }));
    } catch (error) {
      if (isCutOff(error) || isTooLarge(error)) this.#continue(bytes, undefined);
      else if (!isNoCompressedStream(error)) throw error;
    }
  }

  #zstd(bytes: Buffer): void {
    const extent = new ZstdExtent();
    const frame = bytes.subarray(0, extent.take(bytes));
    if (extent.state === 'invalid') return;
    if (extent.state !== 'done') {
      this.#continue(frame, extent);
      return;
    }
    try {
      this.#look(zstdDecompressSync(frame, { maxOutputLength }));
    } catch (error) {
      if (isTooLarge(error)) this.#continue(frame, extent);
      else if (!isNoCompressedStream(error)) throw error;
    }
  }

  #look(bytes: Buffer): void {
    if (this.#scan.allows(bytes.length)) this.#open(this.#pending).end(bytes);
  }

  #continue(bytes: Buffer, extent: ZstdExtent | undefined): void {
    if (!this.#scan.allowsDecompression()) return;
    // Flushed at the end, a stream that was cut off gives what there is instead of an error.
    const stream =
      extent === undefined
        ? createInflateRaw({ ...outputChunk, finishFlush: constants.Z_SYNC_FLUSH })
        : createZstdDecompress({ ...outputChunk, finishFlush: constants.ZSTD_e_flush });
    const decompression = new Decompression(this.#scan, stream, this.#open);
    this.#pending.add(decompression.write(bytes));
    if (extent?.isOver) this.#pending.add(decompression.end());
    else this.#continued.push({ decompression, extent });
  }
}

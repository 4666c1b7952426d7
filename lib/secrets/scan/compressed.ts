import { createInflateRaw, createZstdDecompress } from 'node:zlib';
import { type ByteSink, type Finder, markerFinder } from '../bytes/finder.ts';
import {
  type Packed,
  packedAt,
  packedMagics,
  partialInflate,
  partialZstd,
  unpack,
} from '../bytes/packed.ts';
import type { ZstdExtent } from '../bytes/zstd.ts';
import { Decompression } from './decompression.ts';
import type { Pending, Scan } from './scan.ts';

/** What a short stream may expand to at once, a few milliseconds of work. */
const largestAtOnce = 4 << 20;
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

  readonly finders: readonly Finder[] = packedMagics.map((magic) =>
    markerFinder(magic, (window, at) => {
      const packed = packedAt(window, at);
      if (packed === 'more') return 'more';
      if (packed !== undefined) this.#unpack(packed);
      return 'seen';
    }),
  );

  #unpack(packed: Packed): void {
    const { budget } = this.#scan;
    const limit = Math.min(largestAtOnce, budget.left);
    const contents = unpack(packed, { limit });
    const isRefused = contents === 'too-large' && limit < largestAtOnce;
    if (isRefused) budget.spend(limit + 1);
    else if (contents === 'cut-off' || contents === 'too-large') this.#continue(packed);
    else if (contents !== undefined && budget.spend(contents.length)) {
      this.#open(this.#pending).end(contents);
    }
  }

  #continue({ bytes, extent }: Packed): void {
    if (!this.#scan.allowsDecompression()) return;
    const stream =
      extent === undefined
        ? createInflateRaw({ ...outputChunk, ...partialInflate })
        : createZstdDecompress({ ...outputChunk, ...partialZstd });
    const decompression = new Decompression(this.#scan, stream, this.#open);
    this.#pending.add(decompression.write(bytes));
    if (extent?.isOver) this.#pending.add(decompression.end());
    else this.#continued.push({ decompression, extent });
  }
}

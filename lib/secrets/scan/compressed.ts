import { type ByteSink, type Finder, markerFinder } from '../bytes/finder.ts';
import { type Packed, packedAt, packedMagics, unpack } from '../bytes/packed.ts';
import { Decompression } from './decompression.ts';
import type { Pending, Scan } from './scan.ts';

/** What a short stream may expand to at once, a few milliseconds of work. */
const largestAtOnce = 4 << 20;
/** Streams under way at once; each has a window of its own, of 32 KiB and more. */
const mostDecompressions = 16;

/**
 * Finds gzip members and zstd frames anywhere in a stream and gives what they hold
 * to new sinks. Those that end in the window they begin in are decompressed at once,
 * which also sorts out noise; the others go on as streams.
 */
export class CompressedContent {
  readonly #scan: Scan;
  readonly #pending: Pending;
  readonly #open: (pending: Pending) => ByteSink;
  /** Streams that began in an earlier window. */
  #continued: Decompression[] = [];

  constructor(scan: Scan, pending: Pending, open: (pending: Pending) => ByteSink) {
    this.#scan = scan;
    this.#pending = pending;
    this.#open = open;
  }

  /** Gives new bytes to the streams that began before them. Comes before the finders. */
  push(bytes: Buffer): void {
    this.#continued = this.#continued.filter(({ isOver }) => !isOver);
    for (const decompression of this.#continued) this.#pending.add(decompression.write(bytes));
  }

  /** No more bytes come. */
  end(): void {
    for (const decompression of this.#continued) this.#pending.add(decompression.end());
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
    const { budget, decompressions } = this.#scan;
    const limit = Math.min(largestAtOnce, budget.left);
    const contents = unpack(packed, { limit });
    if (contents === undefined) return;
    if (typeof contents !== 'string') {
      if (budget.spend(contents.length)) this.#open(this.#pending).end(contents);
      return;
    }
    if (limit < largestAtOnce || decompressions.size >= mostDecompressions) {
      budget.refuse();
      return;
    }
    const decompression = new Decompression(this.#scan, packed, this.#open);
    this.#pending.add(decompression.begin());
    this.#continued.push(decompression);
  }
}

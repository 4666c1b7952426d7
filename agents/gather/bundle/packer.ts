import type { Spooled } from '../collecting/spool.ts';
import type { Source } from '../source.ts';
import { type BundleSink, LeftOut } from './bundle-sink.ts';

/** Reserved for the gather log and the end of the archive. */
const RESERVED_BYTES = 128 * 1024;
/** Share of the remaining space that later files can claim. */
const SHARE_FOR_LATER = 0.25;

/** Adds collected files to a bundle of limited size. */
export class Packer {
  readonly #sink: BundleSink;
  readonly #limitBytes: number;
  #last: Promise<void> = Promise.resolve();

  constructor(sink: BundleSink, limitBytes: number) {
    this.#sink = sink;
    this.#limitBytes = limitBytes - RESERVED_BYTES;
  }

  /**
   * Adds a file, without its oldest part if all of it does not fit, and removes the spool.
   * `wantedLater`: bytes that later files want; a share of the remaining space is left for them.
   * @throws LeftOut if not even a part fits
   */
  add(source: Source, spooled: Spooled, wantedLater = 0): Promise<void> {
    const mine = this.#last
      .catch(() => undefined)
      .then(() => this.#fitAndAdd(source, spooled, wantedLater));
    this.#last = mine;
    return mine;
  }

  async #fitAndAdd(source: Source, spooled: Spooled, wantedLater: number): Promise<void> {
    const left = this.#limitBytes - this.#sink.bytes;
    const room = left - Math.min(wantedLater, left * SHARE_FOR_LATER);
    while (this.#sink.sizeOf(spooled) > room) {
      if (source.keep === 'newest' && (await spooled.dropOldest())) continue;
      throw new LeftOut('the bundle has reached its size limit');
    }
    await this.#sink.addSpooled(source.path, spooled, source.gzipped === true);
    await spooled.remove();
  }
}

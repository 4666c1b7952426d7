import type { ByteSink, Finder } from '../bytes/finder.ts';
import { privateKeyFinders } from '../bytes/private-keys.ts';
import { base64Finder } from './base64.ts';
import { CompressedContent } from './compressed.ts';

import type { Pending, Scan } from './scan.ts';

const nothing = Buffer.alloc(0);

/**
 * Looks for private keys in a stream of bytes and in what is encoded or compressed
 * in it, each of which gets a scanner of its own, one level deeper.
 *
 * Calls are synchronous; decompression goes on behind them and is waited for through
 * `pending`, after each push.
 */
export class ByteScanner implements ByteSink {
  readonly #compressed: CompressedContent | undefined;
  readonly #finders: { readonly find: Finder; from: number }[];
  /** Bytes that a finder has not done with. */
  #carried = nothing;
  #memory = nothing;

  constructor(scan: Scan, pending: Pending, depth = 0) {
    const finders = privateKeyFinders((fingerprint) => scan.keys.add(fingerprint));
    if (depth < scan.budget.limits.depth) {
      const deeper = (of: Pending) => new ByteScanner(scan, of, depth + 1);
      this.#compressed = new CompressedContent(scan, pending, deeper);
      finders.push(
        ...this.#compressed.finders,
        base64Finder(() => deeper(pending), scan.budget),
      );
    }
    this.#finders = finders.map((find) => ({ find, from: 0 }));
  }

  push(bytes: Buffer): void {
    this.#look(bytes, false);
  }

  end(bytes: Buffer): void {
    this.#look(bytes, true);
    this.#compressed?.end();
  }

  #look(bytes: Buffer, final: boolean): void {
    this.#compressed?.push(bytes);
    const window = this.#windowWith(bytes);
    for (const finder of this.#finders) finder.from = finder.find(window, finder.from, final);
    const start = final
      ? window.length
      : Math.min(window.length, ...this.#finders.map(({ from }) => from));
    // A copy: the bytes may be the caller's, who uses them again.
    this.#carried = Buffer.from(window.subarray(start));
    for (const finder of this.#finders) finder.from -= start;
  }

  /** Nothing refers to the last window any more: what went on with it has been waited for. */
  #windowWith(bytes: Buffer): Buffer {
    if (this.#carried.length === 0) return bytes;
    const length = this.#carried.length + bytes.length;
    if (this.#memory.length < length) this.#memory = Buffer.allocUnsafeSlow(length + (1 << 12));
    this.#carried.copy(this.#memory);
    bytes.copy(this.#memory, this.#carried.length);
    return this.#memory.subarray(0, length);
  }
}

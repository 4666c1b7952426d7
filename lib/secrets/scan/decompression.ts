import type { Transform } from 'node:stream';
import type { ByteSink } from '../bytes/finder.ts';
import { isNoPackedStream, type Packed, unpackingStream } from '../bytes/packed.ts';
import { Pending, type Scan } from './scan.ts';

/**
 * A compressed stream that is longer than the window it begins in. Bytes are taken
 * at the pace at which what comes out of them is looked at. Damage, and bytes that
 * were no compressed stream to begin with, end it; what came before counts.
 */
export class Decompression {
  readonly #scan: Scan;
  readonly #stream: Transform;
  readonly #packed: Packed;
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(scan: Scan, packed: Packed, open: (pending: Pending) => ByteSink) {
    this.#scan = scan;
    this.#stream = unpackingStream(packed);
    this.#packed = packed;
    scan.decompressions.add(this);
    this.#ended = this.#read(open).finally(() => {
      this.#isOver = true;
      scan.decompressions.delete(this);
      this.stop();
    });
    // Reported where it is waited for.
    this.#ended.catch(() => {});
  }

  /** Whether it takes no more bytes. */
  get isOver(): boolean {
    return this.#isOver || this.#packed.extent?.isOver === true;
  }

  /** Takes what was packed in the window that it begins in. */
  begin(): Promise<void> {
    return this.#give(this.#packed.bytes);
  }

  /**
   * Takes the bytes that follow, as far as they are its own. The promise is kept when they are
   * used up, or nobody wants them any more.
   */
  write(bytes: Buffer): Promise<void> {
    if (this.isOver) return this.#ended;
    return this.#give(bytes.subarray(0, this.#packed.extent?.take(bytes)));
  }

  /** No more bytes come. */
  end(): Promise<void> {
    if (!this.#isOver) this.#stream.end();
    return this.#ended;
  }

  /** Gives it up with the scan that it belongs to. */
  stop(): void {
    this.#stream.destroy();
  }

  #give(own: Buffer): Promise<void> {
    const written = new Promise<void>((resolve) => {
      this.#stream.write(own, () => resolve());
    });
    if (this.#packed.extent?.isOver === true) return this.end();
    // A stream that ends before its input does never says that it took the rest.
    return Promise.race([written, this.#ended]);
  }

  async #read(open: (pending: Pending) => ByteSink): Promise<void> {
    const pending = new Pending();
    const output = open(pending);
    try {
      for await (const chunk of this.#stream) {
        const bytes: Buffer = chunk;
        this.#scan.signal.throwIfAborted();
        if (!this.#scan.budget.spend(bytes.length)) break;
        output.push(bytes);
        await pending.settled();
      }
    } catch (error) {
      if (!isNoPackedStream(error)) throw error;
    }
    output.end(Buffer.alloc(0));
    await pending.settled();
  }
}

import type { Redaction, Redactor } from '../redact/redactor.ts';
import type { ThreadData } from './messages.ts';
import { Pieces, PieceWriter } from './pieces.ts';
import { type Parts, RedactionThread } from './redaction-thread.ts';

/** Pieces of a stream that are handed over before the first of them comes back. */
const PIECES_AHEAD = 2;
/** A piece takes some milliseconds, of hostile text some hundred. */
const STUCK_MS = 30_000;

/**
 * Redacts in a thread of its own, so that whatever a text does to the redaction, this one's
 * deadlines and signals hold, and both work at the same time. A thread that hangs or runs
 * out of memory is ended: its streams fail, the next ones get another. The memory of what it yields is
 * used again once more is asked for.
 */
export class ThreadedRedactor implements Redactor, Disposable {
  readonly text: Redaction = (chunks) => this.#redacted(chunks);
  readonly #pieces = new Pieces();
  readonly #data: ThreadData;
  readonly #stuckMs: number;
  #thread: RedactionThread | undefined;

  /** `key` and `known` as for `createRedactor`. */
  constructor(key: Uint8Array, known: readonly string[], stuckMs = STUCK_MS) {
    this.#data = { key, known };
    this.#stuckMs = stuckMs;
  }

  [Symbol.dispose](): void {
    this.#thread?.[Symbol.dispose]();
  }

  async *#redacted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const thread = this.#running();
    const stream = thread.open();
    const writer = new PieceWriter(this.#pieces);
    const answers: Promise<Parts>[] = [];
    try {
      for await (const chunk of chunks) {
        for (const piece of writer.write(chunk)) {
          answers.push(thread.push(stream, piece));
          if (answers.length >= PIECES_AHEAD) yield* this.#read((await answers.shift()) ?? []);
        }
      }
      for (const piece of writer.rest()) answers.push(thread.push(stream, piece));
      answers.push(thread.end(stream));
      for (const answer of answers) yield* this.#read(await answer);
    } finally {
      thread.close(stream);
    }
  }

  *#read(parts: Parts): Generator<Uint8Array> {
    for (const part of parts) {
      yield part;
      this.#pieces.giveBack(part);
    }
  }

  #running(): RedactionThread {
    if (this.#thread === undefined || this.#thread.isOver) {
      this.#thread = new RedactionThread(this.#data, this.#stuckMs);
    }
    return this.#thread;
  }
}

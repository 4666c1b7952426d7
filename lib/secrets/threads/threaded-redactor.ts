import type { Redaction, Redactor } from '../redact/redactor.ts';
import type { ThreadData } from './messages.ts';
import { RedactionThread } from './redaction-thread.ts';

/** Small chunks are handed over together. */
const PIECE_BYTES = 1 << 17;
/** Pieces of a stream that are handed over before the first of them comes back. */
const PIECES_AHEAD = 2;
/** A piece takes some milliseconds, of hostile text some hundred. */
const STUCK_MS = 30_000;

/**
 * Redacts in a thread of its own, so that whatever a text does to the redaction, this one's
 * deadlines and signals hold, and both work at the same time. A thread that hangs or runs
 * out of memory is ended: its streams fail, the next ones get another.
 */
export class ThreadedRedactor implements Redactor, Disposable {
  readonly text = this.#redaction('text');
  readonly json = this.#redaction('json');
  readonly yaml = this.#redaction('yaml');
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

  #redaction(format: keyof Redactor): Redaction {
    const running = () => this.#running();
    return async function* redacted(chunks) {
      const thread = running();
      const stream = thread.open(format);
      const answers: Promise<readonly Uint8Array[]>[] = [];
      try {
        for await (const piece of inPieces(chunks)) {
          answers.push(heard(thread.push(stream, piece)));
          if (answers.length >= PIECES_AHEAD) yield* (await answers.shift()) ?? [];
        }
        answers.push(heard(thread.end(stream)));
        for (const answer of answers) yield* await answer;
      } finally {
        thread.close(stream);
      }
    };
  }

  #running(): RedactionThread {
    if (this.#thread === undefined || this.#thread.isOver) {
      this.#thread = new RedactionThread(this.#data, this.#stuckMs);
    }
    return this.#thread;
  }
}

/** That it was rejected is told where it is awaited, which may be never. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Copies: the stream may use its memory again, and each piece is handed over. */
async function* inPieces(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(PIECE_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - length);
      piece.set(part, length);
      at += part.length;
      length += part.length;
      if (length < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      length = 0;
    }
  }
  if (length > 0) yield piece.slice(0, length);
}

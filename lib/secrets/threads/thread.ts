/** The thread that redacts, see threaded-redactor.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '../../base/errors/failure.ts';
import { collectGarbage } from '../../host/own-memory.ts';
import { createRedactor, type Redaction } from '../redact/redactor.ts';
import type { RedactionAnswer, RedactionRequest, ThreadData } from './messages.ts';
import { Pieces, PieceWriter } from './pieces.ts';

const { key, known }: ThreadData = workerData;
const redactor = createRedactor(key, known);
const pieces = new Pieces();
const streams = new Map<number, RedactedStream>();

class RedactedStream {
  readonly #number: number;
  /** What was given and not taken yet; undefined is the end. */
  readonly #given: (Uint8Array<ArrayBuffer> | undefined)[] = [];
  #isAwaited: (() => void) | undefined;
  readonly #writer = new PieceWriter(pieces);
  #parts: Uint8Array<ArrayBuffer>[] = [];

  constructor(number: number, redaction: Redaction) {
    this.#number = number;
    void this.#run(redaction);
  }

  give(bytes: Uint8Array<ArrayBuffer> | undefined): void {
    this.#given.push(bytes);
    this.#isAwaited?.();
  }

  async #run(redaction: Redaction): Promise<void> {
    try {
      // Copies: most parts are of larger buffers, which cannot be handed over.
      for await (const part of redaction(this.#chunks())) {
        for (const piece of this.#writer.write(part)) this.#parts.push(piece);
      }
      for (const piece of this.#writer.rest()) this.#parts.push(piece);
      this.#answer();
    } catch (error) {
      answer({ stream: this.#number, failure: describeError(error) }, []);
    }
    streams.delete(this.#number);
  }

  /** When the next chunk is asked for, all that came of the one before is written. */
  async *#chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (this.#given.length === 0) {
        await new Promise<void>((resolve) => {
          this.#isAwaited = resolve;
        });
      }
      const bytes = this.#given.shift();
      if (bytes === undefined) return;
      yield bytes;
      pieces.giveBack(bytes);
      this.#answer();
    }
  }

  #answer(): void {
    const parts = this.#parts;
    this.#parts = [];
    answer(
      { stream: this.#number, parts },
      parts.map(({ buffer }) => buffer),
    );
    collectGarbage();
  }
}

function answer(message: RedactionAnswer, transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}

parentPort?.on('message', (request: RedactionRequest) => {
  const { stream } = request;
  if (request.does === 'open') {
    streams.set(stream, new RedactedStream(stream, redactor[request.format]));
  } else if (request.does === 'cancel') {
    streams.delete(stream);
    answer({ stream, isClosed: true }, []);
  } else {
    streams.get(stream)?.give(request.does === 'push' ? request.bytes : undefined);
  }
});

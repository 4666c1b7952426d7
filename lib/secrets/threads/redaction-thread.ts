import { Worker } from 'node:worker_threads';
import type { RedactionAnswer, RedactionRequest, ThreadData } from './messages.ts';

/** More is not in use at once, whatever the streams hold: a thread that needs more has met something hostile. */
const HEAP_MIB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 48 } as const;

/** What has been redacted: pieces, see pieces.ts. */
export type Parts = readonly Uint8Array<ArrayBuffer>[];

/** A stream was lost, by no fault of its own: the thread ended at another one. From its beginning it can be redacted again. */
export class StreamLost extends Error {
  override readonly name = 'StreamLost';
}

/** A thread that redacts streams, and what waits for it. */
export class RedactionThread implements Disposable {
  readonly #worker: Worker;
  readonly #stuckMs: number;
  /** For the answers, which come in the order of the requests. */
  readonly #waiting: PromiseWithResolvers<Parts>[] = [];
  #watch: NodeJS.Timeout | undefined;
  #streams = 0;
  /** What is said of requests that come after its end. */
  #failure: Error | undefined;

  /** `stuckMs`: how long it may work on one piece; beyond it the thread is ended with all its streams. */
  constructor(data: ThreadData, stuckMs: number) {
    this.#stuckMs = stuckMs;
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: data,
      resourceLimits: HEAP_MIB,
      // Nothing from outside becomes code, as in the process itself.
      env: {},
      stdin: false,
      name: 'redaction',
    });
    this.#worker.on('message', (answer: RedactionAnswer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#failed(error));
    this.#worker.on('exit', () => this.#failed(new Error('the thread that redacts has ended')));
  }

  get isOver(): boolean {
    return this.#failure !== undefined;
  }

  /** The number of a new stream. */
  open(): number {
    return this.#streams++;
  }

  /** Hands over the memory of `bytes`, and gives what can be told of it and of what came before. Rejects with why not. */
  push(stream: number, bytes: Uint8Array<ArrayBuffer>): Promise<Parts> {
    return this.#ask({ stream, does: 'push', bytes });
  }

  /** The rest. */
  end(stream: number): Promise<Parts> {
    return this.#ask({ stream, does: 'end' });
  }

  /** Nothing more is asked for; what has not come is waited for by nobody, but is what the thread may be working on. */
  close(stream: number): void {
    void this.#ask({ stream, does: 'cancel' });
  }

  [Symbol.dispose](): void {
    this.#end(new Error('the redaction was stopped'));
  }

  #ask(request: RedactionRequest): Promise<Parts> {
    const waiting = Promise.withResolvers<Parts>();
    // That it was rejected is told where it is awaited, which may be never.
    waiting.promise.catch(() => undefined);
    if (this.#failure === undefined) {
      this.#waiting.push(waiting);
      this.#worker.postMessage(request, request.does === 'push' ? [request.bytes.buffer] : []);
      if (this.#watch === undefined) this.#watchOver();
    } else waiting.reject(this.#failure);
    return waiting.promise;
  }

  /** Each answer is a sign of life. */
  #answered(answer: RedactionAnswer): void {
    const waiting = this.#waiting.shift();
    if ('failure' in answer) waiting?.reject(new Error(answer.failure));
    else waiting?.resolve(answer.parts);
    this.#watchOver();
  }

  #watchOver(): void {
    clearTimeout(this.#watch);
    this.#watch = undefined;
    if (this.#waiting.length === 0) return;
    const reason = `the redaction of a part did not end in ${this.#stuckMs / 1000} s`;
    this.#watch = setTimeout(() => this.#failed(new Error(reason)), this.#stuckMs);
  }

  /** What has waited longest is what the thread was working on. */
  #failed(error: Error): void {
    const why = `lost with the thread that redacted another file: ${error.message}`;
    const lost = new StreamLost(why);
    this.#waiting.shift()?.reject(error);
    this.#end(lost);
  }

  #end(failure: Error): void {
    if (this.isOver) return;
    this.#failure = failure;
    clearTimeout(this.#watch);
    for (const { reject } of this.#waiting.splice(0)) reject(failure);
    void this.#worker.terminate();
  }
}

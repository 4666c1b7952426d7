/**
 * A signal that follows other signals and a timeout. It holds ordinary listeners on them:
 * AbortSignal.any holds weak references, which were seen to be lost in garbage collection.
 * Once disposed of, it no longer follows them.
 */
export class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #parents: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(
    parents: readonly AbortSignal[],
    time?: { readonly ms: number; readonly over: Error },
  ) {
    this.#parents = parents;
    if (time !== undefined) this.#timer = setTimeout(() => this.abort(time.over), time.ms);
    for (const parent of parents) {
      if (parent.aborted) this.abort(parent.reason);
      parent.addEventListener('abort', this.#follow);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const parent of this.#parents) parent.removeEventListener('abort', this.#follow);
  }

  readonly #follow = () => {
    this.abort(this.#parents.find(({ aborted }) => aborted)?.reason);
  };
}

/** Follows a signal after a delay, so that data already read can still be processed. */
export function graceAfter(signal: AbortSignal, ms: number): Limit {
  const limit = new Limit([]);
  const begin = () => setTimeout(() => limit.abort(signal.reason), ms).unref();
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return limit;
}

/** A timeout whose reason names what timed out. */
export const timeOf = (what: string, ms: number) => ({
  ms,
  over: new Error(`the deadline for ${what}, ${ms / 1000} s, passed`),
});

/** The result of the promise, unless the signal aborts first; works for promises that ignore the signal. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // Whichever settles second is ignored.
    work.catch(() => undefined);
    aborted.promise.catch(() => undefined);
  }
}

/** The chunks until the signal aborts; works for sources that ignore the signal. */
export async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let stop: ((reason: unknown) => void) | undefined;
  const abort = () => stop?.(signal.reason);
  // One promise per chunk: reactions on a single shared one would accumulate with the stream.
  const next = () =>
    new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
      stop = reject;
      if (signal.aborted) reject(signal.reason);
      iterator.next().then(resolve, reject);
    });
  signal.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      const { value, done } = await next();
      if (done === true) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // Not awaited: a source that hangs would block this too.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

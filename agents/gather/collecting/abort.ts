/**
 * A signal that follows others, and a time. It is tied to them as firmly as any listener is:
 * the links of AbortSignal.any are weak ones, and were seen to get lost in a garbage collection.
 * Disposed of, it hears nothing any more.
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

/** Follows a signal after some time: what had come until then can be worked on to its end. */
export function graceAfter(signal: AbortSignal, ms: number): Limit {
  const limit = new Limit([]);
  const begin = () => setTimeout(() => limit.abort(signal.reason), ms).unref();
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return limit;
}

/** The end of a time, with whose time it was. */
export const timeOf = (what: string, ms: number) => ({
  ms,
  over: new Error(`the deadline for ${what}, ${ms / 1000} s, passed`),
});

/** What the promise gives, unless the signal says stop first, also of work that does not listen to it. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    // Whichever came second is not heard of any more.
    work.catch(() => undefined);
    aborted.promise.catch(() => undefined);
  }
}

/** The chunks until the signal says stop, also of a source that does not listen to it. */
export async function* untilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let stop: ((reason: unknown) => void) | undefined;
  const abort = () => stop?.(signal.reason);
  // A promise for each chunk: with one for all of them, what waits for it would grow with the stream.
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
    // Not waited for: a source that hangs would hang this too.
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

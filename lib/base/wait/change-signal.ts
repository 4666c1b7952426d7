/** Lets one waiter sleep until something changes. Changes during its work are not lost, but count once. */
export class ChangeSignal {
  #changed = false;
  #wake = () => {};

  notify(): void {
    this.#changed = true;
    this.#wake();
  }

  /** Returns at once if something changed since the last return. */
  async next(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#changed) {
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      const abort = () => woken.reject(signal.reason);
      signal.addEventListener('abort', abort);
      await woken.promise.finally(() => signal.removeEventListener('abort', abort));
    }
    this.#changed = false;
  }
}

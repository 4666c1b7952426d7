/** An entry that takes time to write, and the line that replaces it on failure. */
export interface SlowEntry {
  /** Whether it was written. Never rejects. */
  send(): Promise<boolean>;
  readonly fallback: string;
}

interface Pending {
  readonly entry: SlowEntry | undefined;
  readonly line: string;
  readonly written: () => void;
}

/**
 * Writes lines and slow entries in order. A line is written at once unless a slow
 * entry is in progress. Whatever is pending when the process ends is then written
 * as lines: nothing is lost.
 */
export class OrderedOutput {
  readonly #write: (line: string) => void;
  readonly #pending: Pending[] = [];
  readonly #flush = () => this.#writeRest();
  #isDraining = false;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  line(line: string): void {
    if (this.#isDraining) this.#pending.push({ entry: undefined, line, written: () => undefined });
    else this.#write(line);
  }

  /** Resolves when it and everything before it is written. */
  entry(entry: SlowEntry): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pending.push({ entry, line: entry.fallback, written: resolve });
    if (!this.#isDraining) void this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    process.once('exit', this.#flush);
    for (let next = this.#pending[0]; next !== undefined; next = this.#pending[0]) {
      const isSent = next.entry !== undefined && (await next.entry.send());
      this.#pending.shift();
      if (!isSent) this.#write(next.line);
      next.written();
    }
    process.off('exit', this.#flush);
    this.#isDraining = false;
  }

  /** Includes the one in progress: twice is better than not at all. */
  #writeRest(): void {
    for (const { line } of this.#pending.splice(0)) this.#write(line);
  }
}

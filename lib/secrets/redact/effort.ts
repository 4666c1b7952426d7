/** Processor time for a stream of any length; compiling the rules takes part of it. */
const FREE_MS = 200;
/** Many times what ordinary text takes: slow machines and text with a secret in every line stay below it. */
const NS_PER_BYTE = 200;
/** Places examined between two looks at the clock, which take a microsecond; in ordinary text there are fewer. */
const PLACES = 256;

/** This thread's processor time in milliseconds: a busy machine does not shorten the effort. */
const threadTime = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/**
 * Bounds the work on a stream of text, against input made to be expensive in a way that no rule
 * foresees. The rest of the block is then removed unread.
 */
export class Effort {
  readonly #now: () => number;
  /** Milliseconds that the blocks so far have not used. */
  #left = FREE_MS;
  #begin: number | undefined;
  #places = 0;
  #isSpent = false;

  /** @param now Clock in milliseconds. */
  constructor(now = threadTime) {
    this.#now = now;
  }

  /** At the beginning of a block. */
  block(bytes: number): void {
    this.#left = Math.max(0, this.#left) + (bytes * NS_PER_BYTE) / 1e6;
    this.#places = 0;
    this.#isSpent = false;
  }

  /** At its end: what the thread does for other streams meanwhile does not count. */
  end(): void {
    if (this.#begin !== undefined) this.#left -= this.#now() - this.#begin;
    this.#begin = undefined;
  }

  /** Asked before each place is examined. */
  isSpent(): boolean {
    if (++this.#places % PLACES !== 0) return this.#isSpent;
    const now = this.#now();
    this.#begin ??= now;
    this.#isSpent = now - this.#begin > this.#left;
    return this.#isSpent;
  }
}

/** Of processor time, for a block of any size: compiling the rules takes part of it. */
const FREE_MS = 200;
/** Ordinary text takes 15 to 60, depending on the machine. */
const NS_PER_BYTE = 200;
/** Places examined between two looks at the clock, which take a microsecond; in ordinary text there are fewer. */
const PLACES = 256;

/** This thread's processor time in milliseconds: a busy machine does not shorten the effort. */
const threadTime = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/**
 * Bounds the work on one block of text, against input made to be expensive in a way that no rule
 * foresees. What is left of the block then is taken out without a look.
 */
export class Effort {
  readonly #now: () => number;
  readonly #ms: number;
  #end: number | undefined;
  #places = 0;
  #isSpent = false;

  /** @param now Clock in milliseconds. */
  constructor(bytes: number, now = threadTime) {
    this.#now = now;
    this.#ms = FREE_MS + (bytes * NS_PER_BYTE) / 1e6;
  }

  /** Asked before each place is examined. */
  isSpent(): boolean {
    if (++this.#places % PLACES !== 0) return this.#isSpent;
    const now = this.#now();
    this.#end ??= now + this.#ms;
    this.#isSpent = now > this.#end;
    return this.#isSpent;
  }
}

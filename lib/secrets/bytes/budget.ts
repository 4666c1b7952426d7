export interface BudgetLimits {
  /** Bytes that may be unpacked in any case, over all levels together. */
  readonly bytes: number;
  /** And as many times the bytes read so far. */
  readonly perByte: number;
  /** Encodings inside each other. PEM is one: base64 of DER. */
  readonly depth: number;
  /** Milliseconds from the first question on, after which nothing more is unpacked; no limit if absent. */
  readonly ms?: number;
}

/**
 * Bounds the work on what is encoded or compressed in a stream, against input made to expand.
 * All levels spend from the same budget, however deep the contents are nested.
 */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #now: () => number;
  /** Known once something is unpacked: most parts of a stream are never asked, and a look at the clock takes long. */
  #deadline: number | undefined;
  readonly #whole: Budget | undefined;
  #read = 0;
  #spent = 0;
  #isExhausted = false;

  /**
   * @param now Clock of the time limit, in milliseconds.
   * @param whole Budget that this one is a part of: what is spent here is spent there too.
   */
  constructor(limits: BudgetLimits, now = () => performance.now(), whole?: Budget) {
    this.limits = limits;
    this.#now = now;
    this.#whole = whole;
  }

  /** A budget for one line of the stream. */
  part(limits: Omit<BudgetLimits, 'depth'>): Budget {
    return new Budget({ ...limits, depth: this.limits.depth }, this.#now, this);
  }

  /** True once something was refused: a part of the stream has not been searched. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Bytes that may still be unpacked. */
  get left(): number {
    const { bytes, perByte } = this.limits;
    const own = this.#isLate() ? 0 : bytes + perByte * this.#read - this.#spent;
    return Math.max(0, Math.min(own, this.#whole?.left ?? own));
  }

  #isLate(): boolean {
    const { ms } = this.limits;
    if (ms === undefined) return false;
    const now = this.#now();
    this.#deadline ??= now + ms;
    return now > this.#deadline;
  }

  /** Tells of bytes of the stream itself. */
  read(bytes: number): void {
    this.#read += bytes;
  }

  /** Asks to search bytes that were unpacked from others. */
  spend(bytes: number): boolean {
    if (bytes > this.left) {
      this.refuse();
      return false;
    }
    for (let at: Budget | undefined = this; at !== undefined; at = at.#whole) at.#spent += bytes;
    return true;
  }

  /** Notes that something is not searched. */
  refuse(): void {
    this.#isExhausted = true;
    this.#whole?.refuse();
  }
}

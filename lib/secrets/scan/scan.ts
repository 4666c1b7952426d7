import type { Budget, BudgetLimits } from '../bytes/budget.ts';

/** Against archives made to expand. */
export const defaultScanLimits: BudgetLimits = { bytes: 1 << 30, perByte: 32, depth: 8 };

/** State that all parts of the scan of one stream share. */
export interface Scan {
  readonly signal: AbortSignal;
  readonly budget: Budget;
  /** Fingerprints of the private keys found so far. */
  readonly keys: Set<string>;
  /** Compressed streams under way. */
  readonly decompressions: Set<{ stop(): void }>;
}

/** Work under way behind synchronous calls; waited for before more bytes are taken. */
export class Pending {
  #work: Promise<void>[] = [];

  add(work: Promise<void>): void {
    this.#work.push(work);
  }

  async settled(): Promise<void> {
    while (this.#work.length > 0) {
      const work = this.#work;
      this.#work = [];
      await Promise.all(work);
    }
  }
}

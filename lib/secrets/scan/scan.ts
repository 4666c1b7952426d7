import { Budget, type BudgetLimits } from '../bytes/budget.ts';
import type { Decompression } from './decompression.ts';

/** What bounds the work on one stream, against archives made to expand. */
export interface ScanLimits extends BudgetLimits {
  /** Compressed streams under way at once; each has a window of its own, of 32 KiB and more. */
  readonly decompressions: number;
}

export const defaultScanLimits: ScanLimits = {
  bytes: 1 << 30,
  perByte: 32,
  depth: 8,
  decompressions: 16,
};

/** State that all parts of the scan of one stream share. */
export class Scan {
  readonly signal: AbortSignal;
  readonly budget: Budget;
  /** Fingerprints of the private keys found so far. */
  readonly keys = new Set<string>();
  readonly decompressions = new Set<Decompression>();
  readonly #limits: ScanLimits;
  #wasRefused = false;

  constructor(signal: AbortSignal, limits: ScanLimits) {
    this.signal = signal;
    this.budget = new Budget(limits);
    this.#limits = limits;
  }

  /** False once a limit kept a part of the stream from being searched. */
  get complete(): boolean {
    return !this.#wasRefused && !this.budget.isExhausted;
  }

  /** Asks for one more decompression. */
  allowsDecompression(): boolean {
    if (this.decompressions.size < this.#limits.decompressions) return true;
    this.#wasRefused = true;
    return false;
  }
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

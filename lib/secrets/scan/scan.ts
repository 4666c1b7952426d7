import type { Decompression } from './decompression.ts';

/** What bounds the work on one stream, against archives made to swell. */
export interface ScanLimits {
  /** Bytes that decoding and decompressing may make in any case. */
  readonly expandedBytes: number;
  /** And as many times the bytes read so far. */
  readonly expansion: number;
  /** Encodings inside each other. PEM is one: base64 of DER. */
  readonly depth: number;
  /** Compressed streams under way at once; each has a window of its own, of 32 KiB and more. */
  readonly decompressions: number;
}

export const defaultScanLimits: ScanLimits = {
  expandedBytes: 1 << 30,
  expansion: 32,
  depth: 8,
  decompressions: 16,
};

/** State that all parts of the scan of one stream share. */
export class Scan {
  readonly signal: AbortSignal;
  readonly limits: ScanLimits;
  /** Fingerprints of the private keys found so far. */
  readonly keys = new Set<string>();
  readonly decompressions = new Set<Decompression>();
  /** False once a limit kept a part of the stream from being looked at. */
  complete = true;
  readBytes = 0;
  #expanded = 0;

  constructor(signal: AbortSignal, limits: ScanLimits) {
    this.signal = signal;
    this.limits = limits;
  }

  /** Asks to look at bytes that were decoded from others. */
  allows(bytes: number): boolean {
    this.#expanded += bytes;
    const { expandedBytes, expansion } = this.limits;
    if (this.#expanded <= expandedBytes + expansion * this.readBytes) return true;
    this.complete = false;
    return false;
  }

  /** Asks for one more decompression. */
  allowsDecompression(): boolean {
    if (this.decompressions.size < this.limits.decompressions) return true;
    this.complete = false;
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

import type { Spooled } from '../collecting/spool.ts';

/** Destination of a bundle's files: an archive or a folder. One file at a time, in call order. */
export interface BundleSink {
  /** Bytes written so far. */
  readonly bytes: number;
  /** Approximate number of bytes that adding this would write. */
  sizeOf(spooled: Spooled): number;
  addText(path: string, text: string): Promise<void>;
  /**
   * `gzipped`: the file in the bundle is itself gzipped. The caller removes the spool afterwards.
   * @throws LeftOut when there is no space for it; any other error ends the bundle.
   */
  addSpooled(path: string, spooled: Spooled, gzipped: boolean): Promise<void>;
  /** Finishes the bundle; rejects if something that was added is missing. */
  close(): Promise<void>;
}

/** One file could not be added; the bundle is unchanged and can continue. */
export class LeftOut extends Error {
  constructor(reason: string) {
    super(`left out: ${reason}`);
    this.name = 'LeftOut';
  }
}

/** Whether it failed because the disk is full. */
export const isFull = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG');

import type { Spooled } from '../collecting/spool.ts';

/** Where the files of a bundle go: an archive, or a folder. One file at a time, in the order of the calls. */
export interface BundleSink {
  /** Written so far. */
  readonly bytes: number;
  /** What adding this would write, about. */
  sizeOf(spooled: Spooled): number;
  addText(path: string, text: string): Promise<void>;
  /**
   * `gzipped`: as a file of gzip, which it is. The caller removes the spool afterwards.
   * @throws LeftOut when there is no space for it; any other error means the end of the bundle.
   */
  addSpooled(path: string, spooled: Spooled, gzipped: boolean): Promise<void>;
  /** Writes the end; rejects if something added is missing. */
  close(): Promise<void>;
}

/** One file could not be added; the bundle is as it was before, and can go on. */
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

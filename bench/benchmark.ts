/**
 * One comparison of this project with what it replaces. `npm run bench` runs those that
 * `bench/index.ts` lists, prints their rows and writes them to `bench/results.json`.
 *
 * A benchmark measures both sides in the same run, interleaved, so that what else the
 * machine does affects both. It has no pass or fail criterion: a ratio is a figure to read.
 */
export interface Benchmark {
  /** Its name on the command line and in the results. */
  readonly name: string;
  /** What is compared with what, as one sentence for the reader of a table. */
  readonly compares: string;
  /** For everything in `run`, including what it first builds or downloads. */
  readonly deadlineMs: number;
  /**
   * Measures, and leaves nothing behind: no process, mount or file outside `context.folder`.
   * Throws `NotRunHere` when this machine lacks a part.
   */
  run(signal: AbortSignal, context: BenchContext): Promise<BenchResult>;
}

export interface BenchContext {
  /** A folder for this benchmark alone; removed after it. */
  readonly folder: string;
  /** Called with a short line about the current activity. */
  readonly report: (line: string) => void;
}

export interface BenchResult {
  readonly rows: readonly Row[];
  /** What was measured, by name: `{ etcd: '3.6.8' }`. */
  readonly versions: Readonly<Record<string, string>>;
}

/** One measured quantity of both sides. `compare` makes it from the samples. */
export interface Row {
  /** The quantity, such as `wall time` or `size, gzip`. */
  readonly what: string;
  /** `s`, `MiB`, `requests` … */
  readonly unit: string;
  readonly ours: Spread;
  readonly theirs: Spread;
  /** Median of ours divided by median of theirs: below 1 ours is less. Null when theirs is 0. */
  readonly ratio: number | null;
  /** How often each side was measured. */
  readonly repetitions: number;
  /** What a reader has to know about it, such as that one side is computed and not measured. */
  readonly note?: string;
}

/** Samples of one side. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Prerequisites of a benchmark are missing: it is listed as skipped, which is not a failure. */
export class NotRunHere extends Error {
  /** `reason` follows "not run here: ". */
  constructor(reason: string) {
    super(reason);
    this.name = 'NotRunHere';
  }
}

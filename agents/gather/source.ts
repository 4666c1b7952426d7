import type { GatherHost } from './gather-host.ts';

/** Of a text, the beginning or the end can be left out; what is left of JSON would be no document. */
export type SourceFormat = 'text' | 'json';

/**
 * `diagnosis`: small, collected first, input of the report.
 * `bulk`: everything else, streamed afterwards; trimmed first.
 */
export type GatherPhase = 'diagnosis' | 'bulk';

/** One file of the bundle. */
export interface Source {
  /** Relative to `log-bundle-ID/`: folders and a name, without a leading slash. */
  readonly path: string;
  readonly format: SourceFormat;
  readonly phase: GatherPhase;
  /** From its start; a timeout is recorded and the other sources continue. */
  readonly deadlineMs: number;
  /** Of the redacted bytes; the excess is cut at the end that `keep` does not name. */
  readonly limitBytes: number;
  readonly keep: 'newest' | 'oldest';
  /** The file in the bundle is gzipped by itself (`.gz`), as bundle readers expect. */
  readonly gzipped?: boolean;
  /**
   * In the phase `bulk`, the order in which sources lose their oldest part when space runs out:
   * higher values first. Whole journals have 1 (this boot), 2 (the one before) …
   */
  readonly givesWay?: number;
  /** The raw bytes, secrets included. Rejects with a reason readable by people. */
  open(host: GatherHost, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A part of the catalogue whose sources are known only on the host, such as one per container. */
export interface SourceGroup {
  /** Used by `--only` and in gather.log: journals, containers, network … */
  readonly name: string;
  /** Time limit for listing the sources. */
  readonly deadlineMs: number;
  list(host: GatherHost, signal: AbortSignal): Promise<readonly Source[]>;
}

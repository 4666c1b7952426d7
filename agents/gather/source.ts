import type { GatherHost } from './gather-host.ts';

/** How the redaction reads what a source gives; the bundle's file keeps that form. */
export type Format = 'text' | 'json' | 'yaml';

/**
 * `diagnosis`: small, collected first, and what the report is made of.
 * `bulk`: everything else, streamed afterwards; the first to be trimmed.
 */
export type Phase = 'diagnosis' | 'bulk';

/** One file of the bundle. */
export interface Source {
  /** Below `log-bundle-ID/`: folders and a name, without a leading slash. */
  readonly path: string;
  readonly format: Format;
  readonly phase: Phase;
  /** From its start; the reason is recorded and the rest goes on. */
  readonly deadlineMs: number;
  /** Of the redacted bytes; what exceeds it is cut from the end that is not kept. */
  readonly limitBytes: number;
  readonly keep: 'newest' | 'oldest';
  /** The file in the bundle is gzipped by itself (`.gz`), as readers of bundles know it. */
  readonly gzipped?: boolean;
  /**
   * In the phase `bulk`, what loses its oldest part first when there is no room for everything:
   * the greater, the sooner. Whole journals have 1 (this boot), 2 (the one before) …
   */
  readonly givesWay?: number;
  /** The bytes as the host has them, secrets included. Rejects with a reason that a person can read. */
  open(host: GatherHost, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** A part of the catalogue: sources that are known only on the host, such as one for each container. */
export interface SourceGroup {
  /** What `--only` selects by, and what gather.log calls it: journals, containers, network … */
  readonly name: string;
  /** How long finding out what there is may take. */
  readonly deadlineMs: number;
  list(host: GatherHost, signal: AbortSignal): Promise<readonly Source[]>;
}

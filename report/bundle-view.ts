import type { FailureCode } from '../lib/errors/codes.ts';
import type { FailureData } from '../lib/errors/failure-data.ts';

/**
 * The input of the analysis: the files of a bundle that the rules read (inputs.ts), by their paths
 * in the bundle. On the host it is made of what gather has collected so far, on a laptop of an
 * archive or a folder.
 */
export interface BundleView {
  /** Sorted; below `log-bundle-ID/`. */
  paths(): readonly string[];
  /** Without line ends; empty for a file that does not exist. */
  lines(path: string): readonly string[];
  /** Parsed; undefined if the file does not exist or is not JSON. */
  json(path: string): unknown;
  /** When the bundle was made, in milliseconds since 1970: "now" for the rules. */
  readonly atMs: number;
  /** What could not be collected, where that is known: a missing file can be evidence too. */
  readonly failures?: readonly CollectFailure[];
}

/** A source or a group of sources that could not be collected, or not completely. */
export interface CollectFailure {
  /** The file in the bundle, or the name of the group. */
  readonly path: string;
  readonly reason: string;
}

/** Where a finding can be checked in the bundle. */
export interface Evidence {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The line, shortened. */
  readonly text: string;
}

/** What a rule found, worded for a support engineer. */
export interface Found {
  readonly severity: 'failing' | 'warning' | 'note';
  /** One sentence that names the object. */
  readonly title: string;
  /** In milliseconds since 1970, where the evidence shows it. */
  readonly sinceMs?: number | undefined;
  readonly evidence: readonly Evidence[];
  /** What to do: imperative sentences. Absent: what the rule says in general. */
  readonly todo?: string | undefined;
  /** As the agent wrote it down, where one did. */
  readonly failure?: FailureData;
}

export interface Finding extends Found {
  /** Stable name of the rule, such as `certificate-expired`. */
  readonly rule: string;
  readonly todo: string;
}

export interface Rule {
  readonly name: string;
  /** What it looks for, for the documentation. */
  readonly looksFor: string;
  /** The failures of agents that it reads. */
  readonly codes?: readonly FailureCode[];
  /** What to do in general, for the documentation; a finding can be more specific. */
  readonly todo: string;
  find(view: BundleView): readonly Found[];
}

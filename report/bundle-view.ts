import type { FailureCode } from '../lib/base/errors/codes.ts';
import type { FailureData } from '../lib/base/errors/failure-data.ts';

/**
 * The input of the analysis: the files of a bundle that the rules read (inputs.ts), by their paths
 * in the bundle. On the host it is what gather has collected so far, on a laptop an archive or a
 * folder.
 */
export interface BundleView {
  /** Sorted; relative to `log-bundle-ID/`. */
  paths(): readonly string[];
  /** Without line ends; empty for a file that does not exist. */
  lines(path: string): readonly string[];
  /** Parsed; undefined if the file does not exist or is not JSON. */
  json(path: string): unknown;
  /** When the bundle was collected, in milliseconds since 1970: "now" for the rules. */
  readonly atMs: number;
  /** What could not be collected, if known: a missing file can be evidence too. */
  readonly failures?: readonly CollectFailure[];
}

/** A source or a group of sources that could not be collected, or not completely. */
export interface CollectFailure {
  /** The file in the bundle, or the name of the group. */
  readonly path: string;
  readonly reason: string;
}

/** Where in the bundle a finding can be verified. */
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
  /** What to do: imperative sentences. If absent, the rule's general advice applies. */
  readonly todo?: string | undefined;
  /** As recorded by the agent, if there is one. */
  readonly failure?: FailureData;
}

export interface Finding extends Found {
  /** Stable name of the rule, such as `certificate-expired`. */
  readonly rule: string;
  readonly todo: string;
}

export interface Rule {
  readonly name: string;
  /** What the rule looks for, for the documentation. */
  readonly looksFor: string;
  /** The failure codes of agents that it evaluates. */
  readonly codes?: readonly FailureCode[];
  /** General advice, for the documentation; a finding can be more specific. */
  readonly todo: string;
  find(view: BundleView): readonly Found[];
}

import type { FailureCode } from '../lib/errors/codes.ts';
import type { FailureData } from '../lib/errors/failure-data.ts';

/** What the rules read: the redacted files of the phase `diagnosis`, by their paths in the bundle. */
export interface BundleView {
  /** Sorted; below `log-bundle-ID/`. */
  paths(): readonly string[];
  /** Lines without their ends; none of a file that is not there. */
  lines(path: string): readonly string[];
  /** Parsed; undefined when it is not there or not JSON. */
  json(path: string): unknown;
  /** When the bundle was made: what "now" means, in milliseconds since 1970. */
  readonly atMs: number;
  /** What could not be collected so far, where that is known: an absence may say something too. */
  readonly failures?: readonly CollectFailure[];
}

/** A source or a group of sources that gave nothing, or not everything. */
export interface CollectFailure {
  /** Of the file in the bundle, or the name of the group. */
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

/** What a rule found, in words for a support engineer. */
export interface Finding {
  /** Stable name of the rule, such as `certificate-expired`. */
  readonly rule: string;
  readonly severity: 'failing' | 'warning' | 'note';
  /** One sentence that names the object. */
  readonly title: string;
  /** Since when, in milliseconds since 1970, where the evidence tells. */
  readonly sinceMs?: number;
  readonly evidence: readonly Evidence[];
  /** What to do: imperative sentences. */
  readonly todo: string;
  /** As the agent wrote it down, where one did. */
  readonly failure?: FailureData;
}

export interface Rule {
  readonly name: string;
  /** What it looks for, for the documentation. */
  readonly looksFor: string;
  /** The failures of agents that it reads. */
  readonly codes?: readonly FailureCode[];
  /** What to do in general, for the documentation; a finding may say it with names and values. */
  readonly todo: string;
  find(view: BundleView): readonly Finding[];
}

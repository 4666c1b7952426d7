import type { Certainty } from './marks.ts';

/** Part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What must be removed. */
export interface Secret extends Span {
  /** What it stands for, if that differs from what is written: its mark is made from that. */
  readonly means?: string;
  /** The mark of what stands there encoded. */
  readonly mark?: string;
  /** Whether it is a secret only because of its place. */
  readonly certainty?: Certainty;
}

/** What is found at a trigger. */
export interface RuleFindings {
  /** Where the same rule goes on. */
  readonly next: number;
  readonly secrets: readonly Secret[];
  /** Later lines can change it: the stream must not be cut between. */
  readonly isOpen?: boolean | undefined;
}

/** A text that a rule has decoded, without its secrets, and the mark that stands for all of it. */
export interface Safe {
  readonly text: string;
  readonly mark: string;
}

/** Searches text that a rule has decoded, as latin1; undefined if there are no secrets in it. */
export type Inside = (text: string) => Safe | undefined;

/** Finds secrets where its triggers stand: texts that occur wherever it may find something, in either case. */
export interface SecretRule {
  readonly triggers: readonly string[];
  /** Looks at the line as it is written, a character for each byte. `at`: the column of the trigger. */
  readonly inLine?: (line: string, at: number, inside: Inside) => RuleFindings;
  /** Looks at all lines, without their wrapping (`Unwrapped`). */
  readonly inText?: (text: string, at: number, length: number) => RuleFindings;
}

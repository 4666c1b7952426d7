import type { Certainty } from './marks.ts';
import type { TextLine } from './text-lines.ts';

/** Part of a line, in its columns. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What must be removed. */
export interface LineSecret extends Span {
  /** What it stands for, if that differs from what is written: its mark is made from that. */
  readonly means?: string;
  /** Whether it is a secret only because of its place. */
  readonly certainty?: Certainty;
}

/** What is found at a trigger. */
export interface InLine {
  /** The column at which the same rule continues. */
  readonly next: number;
  readonly secrets: readonly LineSecret[];
}

/** Where a trigger stands. */
export interface LinePlace {
  readonly line: TextLine;
  /** The trigger's column. */
  readonly at: number;
}

/** Takes the secrets out of text that a rule has decoded, as latin1; undefined if there are none in it. */
export type Inside = (text: string) => string | undefined;

/** A rule that needs more than one regular expression to find secrets. */
export interface LineRule {
  readonly triggers: readonly string[];
  readonly at: (place: LinePlace, inside: Inside) => InLine;
}

/** What is found in text that is unwrapped. */
export interface Assigned {
  /** Where the search goes on. */
  readonly next: number;
  readonly secrets: readonly Span[];
  /** Later lines can change it: the stream must not be cut between. */
  readonly isOpen?: boolean;
}

/** A rule for text without its wrapping (`Unwrapped`), whose lines it reads itself. */
export interface UnwrappedRule {
  readonly triggers: readonly string[];
  /** `at`, `length`: where a trigger stands in the text. */
  readonly unwrapped: (text: string, at: number, length: number) => Assigned;
}

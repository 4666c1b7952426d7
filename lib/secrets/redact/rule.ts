import type { Budget } from '../bytes/budget.ts';

/**
 * `certain`: a secret by its name or its shape; `key`: a private key in base64; `possible`: a value of a Secret, which can
 * be a user's name as well; `document`: a text with secrets in it.
 */
export type Certainty = 'certain' | 'key' | 'possible' | 'document';

/** Part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What must be removed. */
export interface Secret extends Span {
  /** What it stands for, if that differs from what is written: its mark is made from that. */
  readonly means?: string;
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

/** Finds secrets where its triggers stand: texts that occur wherever it may find something, in either case. */
export interface SecretRule {
  readonly triggers: readonly string[];
  /** Looks at the line as it is written, a character for each byte. `at`: the column of the trigger. */
  readonly inLine?: (line: string, at: number) => RuleFindings;
  /** Looks at all lines, without their wrapping (`Unwrapped`). */
  readonly inText?: (text: string, at: number, length: number) => RuleFindings;
}

/** A text in a block that is encoded. */
export interface EncodedText {
  readonly runs: readonly Span[];
  /** Where its first line begins, if it reaches the end of the bytes and the next bytes may continue it. */
  readonly openFrom?: number | undefined;
  /** What it can stand for: documents, or the base64 of what must go unread, such as a key. */
  meanings(budget: Budget): readonly (Buffer | string)[];
  /** If it is a file's contents: encodes them again without their secrets. */
  readonly inFile?: ((safe: Buffer) => string) | undefined;
}

/** A document, if the budget allows to look at it. */
export const within = (budget: Budget, document: Buffer): Buffer | string =>
  budget.spend(document.length) ? document : document.toString('base64');

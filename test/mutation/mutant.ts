/** One change of one source file: the text from `start` to `end` becomes `replacement`. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Identifies a mutant for people and in test/mutation/survivors.json, independently of line numbers. */
export interface MutantName {
  readonly file: string;
  readonly operator: string;
  /** The changed lines, before and after, without indentation. */
  readonly before: string;
  readonly after: string;
}

/** The file's text with the change applied. */
export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** 1 for the first line. */
export function lineOf(text: string, { start }: Mutant): number {
  return text.slice(0, start).split('\n').length;
}

export function nameOf(text: string, mutant: Mutant): MutantName {
  const { file, operator, start, end, replacement } = mutant;
  const first = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const last = newline === -1 ? text.length : newline;
  const after = text.slice(first, start) + replacement + text.slice(end, last);
  return { file, operator, before: onOneLine(text.slice(first, last)), after: onOneLine(after) };
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

import { readings, words } from './quoting.ts';

/** What a file calls a value, and one reading of it. */
export type NamedValue = readonly [name: string, value: string];

/** Reads what stands in a file by its syntax. */
export type Reader = (text: string) => Iterable<NamedValue>;

const COMMENT = /^\s*(?:[#;!]|$)/;
/** Longer lines hold no setting that a person or a program wrote. */
const MAX_LINE = 16_384;

/**
 * `name = value` and `name: value` of INI files, keyfiles, environment files, TOML, YAML and shell
 * scripts. Each value comes whole, in each of its readings: programs differ in what they make of
 * quotes, backslashes, blanks, `;` and `#`. (The packages for these formats return one reading,
 * and of repeated sections the last one only.)
 */
export function* settings(text: string): Generator<NamedValue> {
  for (const line of lines(text)) {
    if (COMMENT.test(line)) continue;
    for (const separator of ['=', ':']) {
      const at = line.indexOf(separator);
      const name = nameBefore(line, at);
      if (name === '') continue;
      for (const value of readings(line.slice(at + 1))) yield [name, value];
    }
  }
  yield* variables(text);
}

/** `A=1 B='x y'`, also of `export`, a kernel's command line, and of the lines that a `\` continues. */
export function* variables(text: string): Generator<NamedValue> {
  for (const line of lines(text.replace(/\\\r?\n/g, ' '))) {
    if (!line.includes('=') || COMMENT.test(line)) continue;
    for (const word of words(line)) {
      const at = word.indexOf('=');
      const name = nameBefore(word, at);
      if (name !== '') yield [name, word.slice(at + 1)];
    }
  }
}

/** The name that ends before an offset, quotes and blanks aside; empty if there is none. */
function nameBefore(line: string, offset: number): string {
  let end = offset;
  while (end > 0 && /["'\s]/.test(line[end - 1] ?? '')) end--;
  let start = end;
  while (start > 0 && /[\w.-]/.test(line[start - 1] ?? '')) start--;
  return line.slice(start, Math.max(start, end));
}

/** Lines without their ends; none that is too long. */
export function lines(text: string): string[] {
  return text.split(/\r?\n/).filter(({ length }) => length <= MAX_LINE);
}

import { readings, words } from './quoting.ts';

/** The name of a value in a file, and one possible meaning of the value. */
export type NamedValue = readonly [name: string, value: string];

/** Reads the values of a file in a particular format. */
export type Reader = (text: string) => Iterable<NamedValue>;

const COMMENT = /^\s*(?:[#;!]|$)/;
/** Longer lines are not settings. */
const MAX_LINE = 16_384;

/**
 * `name = value` and `name: value` in INI files, keyfiles, environment files, TOML, YAML and shell
 * scripts. Values are complete, with every meaning they can have: programs differ in how they treat
 * quotes, backslashes, blanks, `;` and `#`. (npm packages for these formats return one meaning, and
 * only the last of repeated sections.)
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

/** `A=1 B='x y'`, also after `export`, on a kernel command line, and continued with `\`. */
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

/** The name that ends before an offset, ignoring quotes and blanks; empty if there is none. */
function nameBefore(line: string, offset: number): string {
  let end = offset;
  while (end > 0 && /["'\s]/.test(line[end - 1] ?? '')) end--;
  let start = end;
  while (start > 0 && /[\w.-]/.test(line[start - 1] ?? '')) start--;
  return line.slice(start, Math.max(start, end));
}

/** Lines without line ends; overlong lines are left out. */
export function lines(text: string): string[] {
  return text.split(/\r?\n/).filter(({ length }) => length <= MAX_LINE);
}

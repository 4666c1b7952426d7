import { readings } from './quoting.ts';

/** The name of a value in a file, and one possible meaning of the value. */
export type NamedValue = readonly [name: string, value: string];

/** Reads the values of a file in a particular format. */
export type Reader = (text: string) => Iterable<NamedValue>;

const COMMENT = /^\s*(?:[#;!]|$)/;
/** Longer lines are not settings. */
const MAX_LINE = 16_384;
const MAX_NAME = 512;

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
}

/** The name that ends before an offset, ignoring quotes and blanks; empty if there is none. */
const nameBefore = (line: string, offset: number): string =>
  /([\w.-]+)["'\s]{0,80}$/.exec(
    line.slice(Math.max(0, offset - MAX_NAME), Math.max(0, offset)),
  )?.[1] ?? '';

/** Lines without line ends; overlong lines are left out. */
export function lines(text: string): string[] {
  return text.split(/\r?\n/).filter(({ length }) => length <= MAX_LINE);
}

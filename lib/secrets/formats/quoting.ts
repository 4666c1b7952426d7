import { codeOf } from '../redact/escapes.ts';

/** The words of a line, without quotes around them; one that is not closed extends to the end of the line. */
export const words = (line: string): string[] =>
  Array.from(
    line.matchAll(/"(?<double>(?:[^"\\]|\\.)*)"?|'(?<single>[^']*)'?|[^\s\0"']+/g),
    ({ groups, 0: word }) => groups?.double ?? groups?.single ?? word,
  );

const ESCAPED = /\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|[0-7]{3}|[\s\S])/gi;

/** Resolves C escapes, which systemd, TOML, YAML, JSON and keyfiles (`\s`, `\;`) use too. */
export const unescaped = (text: string): string =>
  text.replace(ESCAPED, (written) => {
    const code = written === '\\s' ? 0x20 : codeOf(written);
    return code === undefined ? written.slice(1) : String.fromCharCode(code);
  });

/** Up to a quote after which only a comment or a separator follows. */
const IN_QUOTES = /^(?<quote>["'])(?<inside>.*?(?<!\\)(?:\\\\)*)\k<quote>\s*(?:$|[#;,)\]}])/;

/**
 * What a value at the end of a line can mean, depending on the program that reads it: the whole rest of the line;
 * without quotes, a trailing comment or a separator; without escapes. Quotes in it do not matter where it is searched for.
 */
export function readings(rest: string): Set<string> {
  const value = rest.trim();
  const inside = IN_QUOTES.exec(value)?.groups?.inside;
  const bare = inside ?? value.replace(/\s[#;].*$|[;,]$/, '').trimEnd();
  return new Set([inside ?? value, bare, unescaped(bare)]);
}

const WORD = /(?:[^\s\0"'\\]|\\[\s\S]?|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'[^']*(?:'|$))+/g;
const QUOTED = /"(?<double>(?:[^"\\]|\\[\s\S])*)"?|'(?<single>[^']*)'?|\\(?<char>[\s\S])/g;

/**
 * Splits a line into words like a shell, systemd, netrc and ipsec.secrets do, and removes the quotes.
 * An unclosed quote extends to the end of the line. Backslashes work like in a shell: in double
 * quotes they escape only `"`, `\`, `$` and `` ` ``.
 */
export const words = (line: string): string[] =>
  (line.match(WORD) ?? []).map((word) =>
    word.replace(
      QUOTED,
      (_, double?: string, single?: string, char = '') =>
        double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? char,
    ),
  );

const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|([0-7]{3})|([\s\S]))/gi;
const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', s: ' ' };

/** Resolves C escapes, which systemd, TOML, YAML, JSON and keyfiles (`\s`, `\;`) use too. */
export const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, hex?: string, code?: string, octal?: string, char = '') => {
    const digits = hex ?? code;
    if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return NAMED[char] ?? char;
  });

/** Up to a quote after which only a comment or a separator follows. */
const IN_QUOTES = /^(?<quote>["'])(?<inside>.*?(?<!\\)(?:\\\\)*)\k<quote>\s*(?:$|[#;,)\]}])/;

/**
 * All that a value at the end of a line can mean, depending on the program that reads it: the whole
 * rest of the line; without quotes, escapes or doubled quotes; without a trailing comment.
 */
export function readings(rest: string): Set<string> {
  const value = rest.trim();
  const { quote, inside } = IN_QUOTES.exec(value)?.groups ?? {};
  const found = new Set([inside ?? value]);
  if (value.includes('\\')) found.add(unescaped(inside ?? value));
  if (inside !== undefined && quote !== undefined) {
    found.add(inside.replaceAll(quote + quote, quote));
    return found;
  }
  const comment = value.search(/\s[#;]/);
  if (comment > 0) found.add(value.slice(0, comment).trimEnd());
  if (value.endsWith(';') || value.endsWith(',')) found.add(value.slice(0, -1));
  if (/['"\\]/.test(value)) found.add(words(value)[0] ?? '');
  return found;
}

/**
 * Splits a line into words like a shell, systemd, netrc and ipsec.secrets do, and removes the quotes.
 * An unclosed quote extends to the end of the line. Backslashes work like in a shell: in double
 * quotes they escape only `"`, `\`, `$` and `` ` ``.
 */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? '';
    if (quote === '' && /\s|\0/.test(char)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char;
      word ??= '';
    } else if (char === quote) {
      quote = '';
    } else if (char === '\\' && isQuoting(quote, line[at + 1])) {
      at += 1;
      word = (word ?? '') + (line[at] ?? '');
    } else {
      word = (word ?? '') + char;
    }
  }
  return word === undefined ? found : [...found, word];
}

function isQuoting(quote: string, next: string | undefined): boolean {
  if (next === undefined || quote === "'") return false;
  return quote === '' || '"\\$`'.includes(next);
}

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

/**
 * All that a value at the end of a line can mean, depending on the program that reads it: the whole
 * rest of the line; without quotes, escapes or doubled quotes; without a trailing comment.
 */
export function readings(rest: string): Set<string> {
  const value = rest.trim();
  const quote = value[0];
  if (quote === '"' || quote === "'") {
    const end = closing(value, quote);
    if (end > 0) return quotedReadings(value.slice(1, end), quote);
  }
  const found = new Set([value]);
  const comment = value.search(/\s[#;]/);
  if (comment > 0) found.add(value.slice(0, comment).trimEnd());
  if (value.endsWith(';') || value.endsWith(',')) found.add(value.slice(0, -1));
  if (value.includes('\\')) found.add(unescaped(value));
  if (/['"\\]/.test(value)) found.add(words(value)[0] ?? '');
  return found;
}

function quotedReadings(inside: string, quote: string): Set<string> {
  const found = new Set([inside]);
  if (inside.includes('\\')) found.add(unescaped(inside));
  const doubled = quote + quote;
  if (inside.includes(doubled)) found.add(inside.replaceAll(doubled, quote));
  return found;
}

/** Position of the closing quote: only a comment or a separator may follow it. */
function closing(value: string, quote: string): number {
  for (let at = value.indexOf(quote, 1); at !== -1; at = value.indexOf(quote, at + 1)) {
    if (slashesBefore(value, at) % 2 === 1) continue;
    if (value[at + 1] === quote) at += 1;
    else if (/^\s*(?:$|[#;,)\]}])/.test(value.slice(at + 1, at + 64))) return at;
  }
  return -1;
}

function slashesBefore(value: string, at: number): number {
  let count = 0;
  while (value[at - count - 1] === '\\') count++;
  return count;
}

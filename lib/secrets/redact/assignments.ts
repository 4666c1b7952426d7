import { isSecretValue } from './names.ts';

/** One of these stands in every name by which a value is a secret. */
export const ASSIGNMENT_TRIGGERS = [
  'passw',
  'passphrase',
  '_pass',
  '-pass',
  'pass=',
  'pass:',
  'pass"',
  'pass\\',
  'pwd=',
  'pwd:',
  'pwd"',
  'pwd\\',
  'pwd>',
  '_pwd',
  'secret',
  'token',
  'credential',
  'auth',
  'apikey',
  'api-key',
  'api_key',
  'api key',
  'sharedkey',
  'shared-key',
  'shared_key',
  'shared key',
  'accountkey',
  'account_key',
  'account-key',
  'accesskey',
  'access_key',
  'access-key',
  'access key',
  'privatekey',
  'private-key',
  'private_key',
  'key-data',
  'encryptionkey',
  'encryption_key',
  'encryption-key',
  'encryption key',
  'psk=',
  'psk:',
  'psk"',
  'psk\\',
  "psk'",
  'psk>',
  'psk =',
  '_psk',
  'wep-key',
  'wep_key',
  'mka-cak',
  'mka_cak',
  'dockerc',
  'cookie',
  'amz-signature',
  'amz_signature',
  'goog-signature',
  'goog_signature',
  'key1',
  'key2',
];

/** Part of a line. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Assignment {
  /** Where looking for the next name goes on. */
  readonly next: number;
  /** The value, if it is a secret; on the next line if `isBelow`. */
  readonly secret?: Span & { readonly isBelow?: boolean };
}

/**
 * What is assigned to the name around `offset`, where a trigger of `length` characters stands. `below`: the
 * line after this one, for lists of environment variables in YAML.
 */
export function assignmentAt(
  line: string,
  offset: number,
  length: number,
  below: () => string,
): Assignment {
  let start = offset;
  while (isInName(line.charCodeAt(start - 1))) start--;
  let end = offset + length;
  if (!isInName(line.charCodeAt(end - 1))) end = lastInName(line, offset, end);
  while (isInName(line.charCodeAt(end))) end++;
  const name = line.slice(start, end);
  const found = valueAfter(line, end, name.startsWith('-'));
  if (found === undefined) {
    const secret = namedBelow(line, { start, end }, name, below);
    return secret === undefined ? { next: end } : { next: end, secret };
  }
  const { value, isQuoted } = found;
  if (!isSecretValue(name, line.slice(value.start, value.end))) return { next: end };
  if (!isQuoted && isProse(line, value)) return { next: end };
  const isCut = !isQuoted && value.end - value.start === PLAIN_LIMIT;
  const secretEnd = isCut ? (endOf(PLAIN, line, value.start) ?? value.end) : value.end;
  return { next: secretEnd, secret: { start: value.start, end: secretEnd } };
}

/** Letters, digits, `_`, `-`, `.` */
function isInName(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2e
  );
}

/** The end of the name in a trigger that ends with what stands after the name. */
function lastInName(line: string, offset: number, triggerEnd: number): number {
  let end = triggerEnd;
  while (end > offset && !isInName(line.charCodeAt(end - 1))) end--;
  return end;
}

interface Value {
  readonly value: Span;
  readonly isQuoted: boolean;
}

/** After the name, which may stand in quotes, escaped or not: `=`, `:`, `:=`, `=>`. */
const SEPARATOR = /(?:\\{0,15}["'])?\s{0,8}(?:=>|:=|[:=])\s{0,8}/y;
/** `{"name": "…", "value": "…"}` of an environment variable. */
const NAMED_VALUE =
  /\\{0,15}["']?\s{0,8},\s{0,8}\\{0,15}["']?value\\{0,15}["']?\s{0,8}[:=]\s{0,8}/iy;
const XML = />(?<value>[^<>]{1,4096})<\//dy;
/** The next word of a command line, which in /proc ends with NUL. */
const NEXT_WORD = /[\s\0]{1,8}(?!-)/y;
const OPENING = /\[?(?<quote>\\{0,15}["'`])/dy;
/** Bytes as Go prints them. */
const NUMBERS = /\[(?<value>\d{1,3}(?: \d{1,3}){3,4095})\]/dy;
/** Ends before what ends a value in a list, a map or a command line; a comma or an ampersand may be the value's own. */
const PLAIN =
  /(?:[^\s\0"'`,;&)\]}\\<]|,(?=[^\s"'{[\\])(?![\w.-]{1,40}[=:])|&(?=[^\s"'])(?!(?:amp;)?[\w.-]{1,40}=)|\\(?![nrtu"'\\]))+/y;
const PLAIN_LIMIT = 1024;

function valueAfter(line: string, nameEnd: number, isOption: boolean): Value | undefined {
  const start =
    endOf(SEPARATOR, line, nameEnd) ??
    endOf(NAMED_VALUE, line, nameEnd) ??
    (isOption ? endOf(NEXT_WORD, line, nameEnd) : undefined);
  if (start === undefined) {
    const value = groupAt(XML, line, nameEnd, 'value');
    return value === undefined ? undefined : { value, isQuoted: true };
  }
  const numbers = groupAt(NUMBERS, line, start, 'value');
  if (numbers !== undefined) return { value: numbers, isQuoted: true };
  const quote = groupAt(OPENING, line, start, 'quote');
  if (quote !== undefined) return { value: quoted(line, quote), isQuoted: true };
  // A list's first entry; what begins a mapping is none.
  const from = line[start] === '[' ? start + 1 : start;
  const end = line[from] === '{' ? from : plainEnd(line, from);
  return end === from ? undefined : { value: { start: from, end }, isQuoted: false };
}

function endOf(shape: RegExp, line: string, at: number): number | undefined {
  shape.lastIndex = at;
  return shape.test(line) ? shape.lastIndex : undefined;
}

function groupAt(shape: RegExp, line: string, at: number, group: string): Span | undefined {
  shape.lastIndex = at;
  const place = shape.exec(line)?.indices?.groups?.[group];
  return place === undefined ? undefined : { start: place[0], end: place[1] };
}

/**
 * Up to the closing quote: of a quote with k backslashes, one that has as many, or more by a
 * multiple of what the next level of quoting adds. What is cut off goes to the line's end.
 */
function quoted(line: string, { start, end }: Span): Span {
  const escapes = end - start - 1;
  const quote = line[end - 1] ?? '"';
  for (let at = line.indexOf(quote, end); at !== -1; at = line.indexOf(quote, at + 1)) {
    let slashes = 0;
    while (at - slashes > end && line[at - slashes - 1] === '\\') slashes++;
    if (slashes % (2 * (escapes + 1)) === escapes) return { start: end, end: at - escapes };
  }
  return { start: end, end: line.length };
}

/** At most PLAIN_LIMIT characters: with a name in each few of a long word, all of it would be read for each of them. */
function plainEnd(line: string, start: number): number {
  return start + (endOf(PLAIN, line.slice(start, start + PLAIN_LIMIT), 0) ?? 0);
}

const PROSE = new Set(
  'a an and are authentication be been cannot can could expired failed for from has have in incorrect invalid is it missing must not of or rejected required should the this to was will with'.split(
    ' ',
  ),
);

/** "password: must not be empty" */
function isProse(line: string, { start, end }: Span): boolean {
  return end - start <= 14 && line[end] === ' ' && PROSE.has(line.slice(start, end).toLowerCase());
}

const NAME_KEY = /(?:^|[\s{,])-?\s{0,8}name:\s{1,8}["']?$/;
const VALUE_KEY = /^\s*(?:-\s+)?value:\s{1,8}/y;

/** `- name: X` and `  value: …` on the next line. */
function namedBelow(
  line: string,
  { start, end }: Span,
  name: string,
  below: () => string,
): Assignment['secret'] {
  if (!/^["']?\s*$/.test(line.slice(end, end + 16))) return undefined;
  if (!NAME_KEY.test(line.slice(Math.max(0, start - 32), start))) return undefined;
  const next = below();
  const at = endOf(VALUE_KEY, next, 0);
  if (at === undefined) return undefined;
  const quote = groupAt(OPENING, next, at, 'quote');
  const value =
    quote === undefined ? { start: at, end: next.trimEnd().length } : quoted(next, quote);
  const isSecret = isSecretValue(name, next.slice(value.start, value.end));
  return isSecret ? { ...value, isBelow: true } : undefined;
}

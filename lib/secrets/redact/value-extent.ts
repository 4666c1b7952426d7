import type { Span } from './line-rule.ts';
import { COLOUR, endOf, matchAt, spanOf } from './separators.ts';

/** The value of an assignment. */
export interface Value {
  readonly value: Span;
  /** Its ends are certain: quotes, or the brackets of a list of bytes. */
  readonly isQuoted: boolean;
  /** The quote that would end it is missing. */
  readonly isCut?: boolean;
}

/**
 * Of a value without quotes. `word`: it is one word. `line`: it goes to the line's end. `argument`: to the NUL
 * after it. `field`: to the next field of a struct, if there is one. Otherwise the quote that began before its
 * name, or an escaped newline, ends it.
 */
export type ValueExtent = 'word' | 'line' | 'argument' | 'field' | { readonly quote: string };

/** Constructors, types and prefixes before the quotes of a value: `Some("…")`, `b'…'`, `(string) (len=8) "…"`. */
const WRAPPER =
  '(?:[A-Za-z_][\\w.:]{0,40}[({<]|\\([\\w*=. ]{1,40}\\)[^\\S\\n]?|[bBfFrRuU@&*$](?=\\\\{0,15}["\'])|(?:Just|Some|new String)[^\\S\\n])';
const OPENING = new RegExp(`(?:[[(]|${WRAPPER}){0,4}(?<quote>\\\\{0,15}["'\`])`, 'y');
/** Where a program reads the value from, rather than the value. */
const LOOKUP =
  /[\w.:]{0,40}(?:env|lookup|file|read|param|ref|get|input|prompt|var)[\w.:]{0,40}\(/iy;
const BYTE = '(?:0x[\\da-fA-F]{1,2}|\\d{1,3})';
/** Bytes as Go and Rust print them, and as JSON does. */
const BYTES = new RegExp(
  `(?:[A-Za-z_][\\w.]{0,40}\\()?(?:\\[\\](?:byte|uint8))?[[{](?<value>${BYTE}(?:(?:,\\s{0,2}| )${BYTE}){3,8191})`,
  'dy',
);
/** Anchors and tags of YAML. */
const PROPERTIES = /(?:[&!][\w!./-]{1,64}[^\S\n]{1,8}){1,3}/y;

/**
 * Ends before what ends a value in a list, a map or a command line. Such a character belongs to the value
 * where nothing follows that could belong to another value.
 */
const PLAIN =
  /(?:[^\s\0"'`,;&)\]}\\<]|,(?=[^\s"'{[\\])(?![\w.-]{1,40}[=:])|[&;](?=[^\s"'])(?!(?:amp;)?[\w.-]{1,40}=)|[)\]}'`](?=[A-Za-z0-9])|<(?![/A-Za-z!])|\\(?![nrtu"'\\]|x1b|033))+/y;
/** A field of a template, the scheme of a hash. */
const BRACED = /\{(?:\{|[A-Z0-9-]{3,16}\}[^\s,}])/y;
/** What a value never begins with. */
const ENDS = ' )]};&,<';
const PLAIN_LIMIT = 1024;
const QUOTED_LIMIT = 2048;

/** What may be between the words of a line: no comment follows, and no other assignment. */
const BLANKS = '[^\\S\\n]{1,200}(?!#\\s|[A-Za-z_][\\w.-]{0,60}=)';
const JOINTS = '[;&,](?!\\s{0,8}(?:amp;)?[A-Za-z_][\\w.-]{0,60}=)';
/** All up to the next assignment, or the line's end. */
const LINE = new RegExp(`(?:[^\\s\\0;&,]|${BLANKS}(?=\\S)|${JOINTS})+`, 'y');
/** The same in a text that is quoted, in which a line ends with an escaped newline. */
const QUOTED_LINE = new RegExp(
  `(?:[^\\s\\0;&,\\\\"]|${BLANKS}(?=[^\\s"])|${JOINTS}|\\\\(?![nrtu"'\\\\]|x1b|033)|\\\\\\\\(?![nrt"'\\\\]))+`,
  'y',
);
const ARGUMENT = /[^\0]+/y;
/** As Go prints them, which escapes nothing. */
const FIELD =
  /(?:[^\s\0"{}]|\s(?![A-Za-z]\w{0,60}:))+?(?=\s[A-Za-z]\w{0,60}:|\}|,[A-Za-z]\w{0,60}:|\](?:\s|$))/y;
/** Of a table. */
const BORDER = /\s{1,200}(?:\||\xe2\x94\x82)$/;
const COLOURS = new RegExp(COLOUR);

/** And how much of it is read: of words and quoted lines there can be many in a line. */
const SHAPES = {
  word: { shape: PLAIN, limit: PLAIN_LIMIT },
  line: { shape: LINE },
  argument: { shape: ARGUMENT, limit: QUOTED_LIMIT },
  field: { shape: FIELD, limit: PLAIN_LIMIT },
} as const;
const QUOTED = { shape: QUOTED_LINE, limit: QUOTED_LIMIT } as const;

/** The value that begins at `at`; undefined if there is none. */
export function valueAt(line: string, at: number, extent: ValueExtent): Value | undefined {
  const start = endOf(PROPERTIES, line, at) ?? at;
  const bytes = spanOf(matchAt(BYTES, line, start), 'value');
  if (bytes !== undefined) return { value: bytes, isQuoted: true };
  const opening = matchAt(OPENING, line, start)?.groups?.quote;
  if (opening !== undefined) {
    const isElsewhere = endOf(LOOKUP, line, start) !== undefined;
    return isElsewhere ? undefined : quoted(line, OPENING.lastIndex, opening);
  }
  // The first entry of a list; what begins a mapping is not a value.
  const from = line[start] === '[' ? start + 1 : start;
  const isNone =
    line[from] === '{' ? endOf(BRACED, line, from) === undefined : ENDS.includes(line.charAt(from));
  const end = isNone ? from : plainEnd(line, from, from === start ? extent : 'word');
  return end === from ? undefined : { value: { start: from, end }, isQuoted: false };
}

/**
 * Up to the closing quote: of a quote with k backslashes, one that has as many, or more by a
 * multiple of what the next level of quoting adds. What is cut off goes to the line's end.
 */
function quoted(line: string, start: number, opening: string): Value {
  const quote = opening.slice(-1);
  const escapes = opening.length - 1;
  for (let at = line.indexOf(quote, start); at !== -1; at = line.indexOf(quote, at + 1)) {
    let slashes = 0;
    while (line[at - slashes - 1] === '\\') slashes++;
    // In a shell, 'it'\''s'.
    if (escapes === 0 && line.startsWith("'\\''", at)) {
      at += 3;
      continue;
    }
    if (slashes % (2 * (escapes + 1)) === escapes) {
      return { value: { start, end: at - escapes }, isQuoted: true };
    }
  }
  return { value: { start, end: line.length }, isQuoted: true, isCut: true };
}

function plainEnd(line: string, start: number, extent: ValueExtent): number {
  const rest = line.slice(start);
  if (typeof extent === 'string') return start + uncoloured(rest, SHAPES[extent]);
  // A double quote ends the shape by itself, with the backslashes before it.
  const [text = rest] = extent.quote === '"' ? [] : rest.split(extent.quote, 1);
  return start + uncoloured(text, QUOTED);
}

/** The length of the value, up to a colour. */
function uncoloured(rest: string, { shape, limit }: { shape: RegExp; limit?: number }): number {
  const text = rest.slice(0, limit);
  const end = endOf(shape, text, 0) ?? endOf(PLAIN, text, 0);
  const value = text.slice(0, end ?? 0);
  const colour = value.search(COLOURS);
  return colour === -1 ? value.replace(BORDER, '').length : colour;
}

/** Where a value without quotes ends, of which `valueAt` has read only the beginning. */
export function wholeEnd(line: string, { start, end }: Span): number {
  return end - start === PLAIN_LIMIT ? (endOf(PLAIN, line, start) ?? end) : end;
}

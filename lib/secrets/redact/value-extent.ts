import type { Span } from './rule.ts';
import { BREAK, endOf, matchAt, Q, spanOf } from './separators.ts';

/** The value of an assignment. */
export interface Value extends Span {
  /** Its ends are certain: quotes, or the brackets of a list of bytes. */
  readonly isQuoted: boolean;
  /** The quote that would end it is missing. */
  readonly isCut?: boolean;
}

/**
 * Of a value without quotes. `word`: it is one word. `line`: it goes to the line's end. `quoted`: the quote that began
 * before its name ends it, or the line's end.
 */
export type ValueExtent = 'word' | 'line' | 'quoted';

/** Constructors, types and prefixes before the quotes of a value: `Some("…")`, `b'…'`, `(string) (len=8) "…"`. */
const WRAPPER = `(?:[A-Za-z_][\\w.:]{0,40}[({<]|\\([\\w*=. ]{1,40}\\)[^\\S\\n]?|string\\(\\d{1,8}\\) |interface \\{\\}\\(|\\[\\]\\w{1,40}\\{|[bBfFrRuU@&*$](?=${Q})|(?:Just|Some|new String)[^\\S\\n])`;
const OPENING = new RegExp(`(?:[[(]\\s{0,80}|${WRAPPER}){0,4}(?<quote>${Q})`, 'y');
/** Where a program reads the value from, rather than the value. */
const LOOKUP =
  /[\w.:]{0,40}(?:env|lookup|file|read|require|import|param|ref|get|input|prompt|var)[\w.:]{0,40}\(/iy;
const BYTE = '(?:0x[\\da-fA-F]{1,2}|\\d{1,3})';
/** Bytes as Go and Rust print them, and as JSON does. */
const BYTES = new RegExp(
  `(?:[A-Za-z_][\\w.]{0,40}\\()?(?:\\[\\](?:byte|uint8))?[[{](?<value>${BYTE}(?:(?:,\\s{0,2}| )${BYTE}){1,8191})`,
  'dy',
);
/** Anchors and tags of YAML. */
const PROPERTIES = /(?:[&!][\w!./-]{1,64}[^\S\n]{1,8}){1,3}/y;

const TOKENS = '\\ue000-\\ue600';
/**
 * Ends before what ends a value in a list, a map or a command line. Such a character belongs to the value
 * where nothing follows that could belong to another value.
 */
const PLAIN = new RegExp(
  `(?:[^\\s\\0"'\`,;&)\\]}<${TOKENS}]|,(?=[^\\s"'{[\\\\${TOKENS}])(?![\\w.-]{1,40}[=:])|[&;](?=[^\\s"'${TOKENS}])(?![\\w.-]{1,40}=)|[)\\]}'\`](?=[A-Za-z0-9])|<(?![/A-Za-z!]))+`,
  'y',
);
/** A field of a template, the scheme of a hash. */
const BRACED = /\{(?:\{|[A-Z0-9-]{3,16}\}[^\s,}])/y;
/** What a value never begins with. */
const ENDS = ' )]};&,<';
/** Of quoted lines there can be many in a line. */
const QUOTED_LIMIT = 2048;

/** What may be between the words of a line: no comment follows, and no other assignment. */
const BLANKS = '[^\\S\\n]{1,200}(?!#\\s|[A-Za-z_][\\w.-]{0,60}=)';
const JOINTS = '[;&,](?!\\s{0,8}(?:amp;)?[A-Za-z_][\\w.-]{0,60}=)';
/** All up to the next assignment, or the line's end. */
const LINE = new RegExp(`(?:[^\\s\\0;&,\\ue600]|${BLANKS}(?=[^\\s\\ue600])|${JOINTS})+`, 'y');
const ANY_QUOTE = new RegExp(`["${TOKENS}]`);
/** Of a table. */
const BORDER = /\s{1,200}(?:\||\xe2\x94\x82)$/;

/** Another value of the same name: the next of a list, the new one after the old. */
const NEXT_OF_LIST = new RegExp(`,[\\s\\ue600]{0,80}(?=${Q})`, 'y');
const CHANGED = new RegExp(
  `[^\\S\\n]{0,8}(?:->|=>)[^\\S\\n]{0,8}|[^\\S\\n]{0,8}${BREAK}\\+\\s{1,80}${Q}?value${Q}?:\\s{1,8}`,
  'y',
);
const MAX_VALUES = 64;

/** The values that begin at `at`: more than one in a list, and where one replaces another. */
export function valuesAt(
  text: string,
  at: number,
  { extent, quote }: { extent: ValueExtent; quote?: string | undefined },
): Value[] {
  const values: Value[] = [];
  const isList = /^[[(]|^\[\]\w{1,40}\{/.test(text.slice(at, at + 44));
  for (let next: number | undefined = at; next !== undefined && values.length < MAX_VALUES; ) {
    const value = valueAt(text, next, values.length === 0 ? extent : 'word', quote);
    if (value === undefined) break;
    values.push(value);
    const end = value.isQuoted && value.isCut !== true ? value.end + 1 : value.end;
    next = endOf(CHANGED, text, end) ?? (isList ? endOf(NEXT_OF_LIST, text, end) : undefined);
  }
  return values;
}

/** The value that begins at `at`; undefined if there is none. */
export function valueAt(
  text: string,
  at: number,
  extent: ValueExtent,
  quote?: string,
): Value | undefined {
  const start = endOf(PROPERTIES, text, at) ?? at;
  const bytes = spanOf(matchAt(BYTES, text, start), 'value');
  if (bytes !== undefined) return { ...bytes, isQuoted: true };
  const opening = matchAt(OPENING, text, start)?.groups?.quote;
  if (opening !== undefined) {
    const isElsewhere = endOf(LOOKUP, text, start) !== undefined;
    return isElsewhere ? undefined : quoted(text, OPENING.lastIndex, opening);
  }
  // The first entry of a list; what begins a mapping is not a value.
  const from = text[start] === '[' ? start + 1 : start;
  const isNone =
    text[from] === '{' ? endOf(BRACED, text, from) === undefined : ENDS.includes(text.charAt(from));
  const end = isNone ? from : plainEnd(text, from, from === start ? extent : 'word', quote);
  return end === from ? undefined : { start: from, end, isQuoted: false };
}

/** Up to the same quote; in a shell, a quote in quotes is written `'\''`. What is cut off goes to the line's end. */
function quoted(text: string, start: number, quote: string): Value {
  const end = closing(text, start, quote);
  const newline = text.indexOf('\n', start);
  if (end !== undefined && (newline === -1 || newline > end)) return { start, end, isQuoted: true };
  const cut = newline === -1 ? text.length : newline;
  return { start, end: text[cut - 1] === '\r' ? cut - 1 : cut, isQuoted: true, isCut: true };
}

function closing(text: string, start: number, quote: string): number | undefined {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    const isShells = quote === "'" && IN_SHELL.test(text.slice(at + 1, at + 3));
    // One that is doubled does not end it, unless the value is empty.
    const isDoubled = at > start && text[at + 1] === quote;
    if (!isShells && !isDoubled) return at;
    at += isShells ? 2 : 1;
  }
  return undefined;
}

const IN_SHELL = new RegExp(`^${Q}'$`);

function plainEnd(text: string, start: number, extent: ValueExtent, quote?: string): number {
  const rest = extent === 'quoted' ? text.slice(0, start + QUOTED_LIMIT) : text;
  const shape = extent === 'word' ? PLAIN : LINE;
  const own = text.slice(start, endOf(shape, rest, start) ?? endOf(PLAIN, rest, start) ?? start);
  const kept = extent === 'quoted' ? (own.split(quote ?? ANY_QUOTE, 1)[0] ?? own) : own;
  return start + kept.trimEnd().replace(BORDER, '').length;
}

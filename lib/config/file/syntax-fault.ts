import { Lexer, type YAMLError } from 'yaml';
import type { Fault } from './fault.ts';

type Position = { line: number; column: number };

const LONGEST_MESSAGE = 100;
/** Far more than a real file has. */
export const MOST_LEVELS = 64;
/** `key:value` at the beginning of a line; neither a URL nor a name with `::`. */
const WITHOUT_BLANK = /^[ \t]*(?:- +)*(?<key>[A-Za-z_][\w.-]{0,60}):(?![\s:/]|$)/;

/**
 * Syntax errors without the source text, which can be a secret. The first one is where a person has to look; the
 * others mostly follow from it, and looking for the cause of each would take the square of their number.
 */
export function syntaxFaults(
  errors: readonly YAMLError[],
  source: string,
  at: (offset: number) => Position,
): Fault[] {
  const [first, ...others] = errors;
  if (first === undefined) return [];
  const conflict = CONFLICT.exec(source);
  if (conflict !== null) return [conflictFault(at(conflict.index))];
  const deep = errors.find(({ message }) => OUT_OF_STACK.test(message));
  if (deep !== undefined) return [depthFault(at(deep.pos[0]))];
  const [offset] = first.pos;
  if (first.code === 'TAB_AS_INDENT') return [tabFault(at(offset))];
  const placeholder = placeholderFault(source, offset, at);
  if (placeholder !== undefined) return [placeholder];
  const cause =
    lookalikeFault(source, offset, at) ??
    jsonFault(source, offset, at) ??
    colonFault(source, offset, at) ??
    blankFault(source, offset, at) ??
    quoteFault(source, offset, at);
  return [cause ?? syntaxFault(first, at), ...others.map((error) => syntaxFault(error, at))];
}

/** The line that has an offset, without its end, and where it begins. */
function lineAt(source: string, offset: number): { readonly start: number; readonly line: string } {
  const start = source.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = source.slice(start).split('\n', 1);
  return { start, line };
}

/** Of a template, where YAML takes its braces for its own: in brackets, or as the first thing of a value. */
const UNQUOTED = /^(?:[^"']|"[^"]*"|'[^']*')*?(?<found>\$\{[A-Za-z_][\w.-]*\}|\{\{[^{}]*\}\})/;
/** Of a line of a template. */
const LONGEST_LINE = 1000;

function placeholderFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const { start, line } = lineAt(source, offset);
  const [before = '', found] = UNQUOTED.exec(line.slice(0, LONGEST_LINE)) ?? [];
  if (found === undefined) return undefined;
  return {
    position: at(start + before.length - found.length),
    field: 'YAML',
    expected: 'a value, or a placeholder in quotes',
    found: 'a placeholder of a template without them',
    fix: 'Render the template first; in one for "sno create site-volumes", put the placeholder in quotes.',
  };
}

/** Blanks, dashes, quotes and colons of word processors and web pages, which YAML takes for letters. */
const LOOKALIKE = /(?! )\p{Zs}|[\u2010-\u2015\u2018-\u201f\uff1a\u200b-\u200d\u2060\ufeff]/u;

const OTHER_BLANK = /(?! )\p{Zs}|[\u200b-\u200d\u2060\ufeff]/u;

function lookalikeFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const { start, line } = lineAt(source, offset);
  const [uncommented = ''] = line.split(' #', 1);
  const found = uncommented.search(LOOKALIKE);
  if (found < 0) return undefined;
  return {
    position: at(start + found),
    field: 'YAML',
    expected: 'the blank, dash, colon or quote of a keyboard',
    found: lookingLikeOne(line.charAt(found)),
    fix: 'Type it again: word processors and web pages have others.',
  };
}

const lookingLikeOne = (letter: string): string =>
  `U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}, which looks like one`;

/** A blank that YAML takes for a letter, at either end of a key: the indentation of a web page. Undefined: there is none. */
export function blankBeside(key: string): string | undefined {
  const found = [key.charAt(0), key.slice(-1)].find((letter) => OTHER_BLANK.test(letter));
  return found === undefined ? undefined : lookingLikeOne(found);
}

/** JSON has quotes of its own, of which the first one ends a text in the same quotes. */
function jsonFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const { start, line } = lineAt(source, offset);
  const { before, key = 'YAML' } =
    /^(?<before>[ \t]*(?:- +)*(?<key>[\w.-]{1,60}): +)"[{[]"/.exec(line)?.groups ?? {};
  if (before === undefined) return undefined;
  return {
    position: at(start + before.length),
    field: key,
    expected: 'JSON in single quotes',
    found: 'JSON in double quotes, which end at the first one of its own',
    fix: "Replace the outer quotes by '.",
  };
}

/** Of text that is not indented below its key, each line looks like a key and its value. */
const ABOVE_TEXT = /[:|>][-+\d]*$/;
const SSH_KEY = /^(?:ssh|ecdsa|sk)-/;

/** Without its comment; `start`: of the line below. */
function lineAbove(source: string, start: number): string {
  const { line } = lineAt(source, Math.max(start - 1, 0));
  const [uncommented = ''] = line.split(' #', 1);
  return uncommented.trimEnd();
}

/** A key and its value, one word, as other programs write them: with a blank or "=" alone. */
function colonFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const { start, line } = lineAt(source, offset);
  const { before = '', key } =
    /^(?<before>[ \t]*(?:- +)*(?<key>[a-z][A-Za-z\d-]{0,60}))(?: *= *| +)[^\s=:#][^\s:]*\s*$/.exec(
      line,
    )?.groups ?? {};
  if (key === undefined || SSH_KEY.test(key) || ABOVE_TEXT.test(lineAbove(source, start)))
    return undefined;
  return {
    position: at(start + before.length),
    field: key,
    expected: 'a colon after the key',
    found: 'none',
    fix: `Write "${key}: " and then the value.`,
  };
}

/** As git leaves it where two changes meet. */
const CONFLICT = /^(?:<{7}|>{7}) .+$/m;

const conflictFault = (position: Position): Fault => ({
  position,
  field: 'YAML',
  expected: 'one of the two versions',
  found: 'a conflict of a merge, with both',
  fix: 'Resolve it, and remove its lines of <, = and >.',
});

/** One is enough: what follows from it is reported at every line below. */
const tabFault = (position: Position): Fault => ({
  position,
  field: 'YAML',
  expected: 'blanks before the first letter of a line',
  found: 'a tab',
  fix: 'Write blanks instead, in every line: YAML does not know how wide a tab is.',
});

/** Of the engine, which the parser passes on. */
const OUT_OF_STACK = /call stack size|stack overflow/i;

const depthFault = (position: Position): Fault => ({
  position,
  field: 'YAML',
  expected: `at most ${MOST_LEVELS} levels of nesting`,
  found: 'more',
  fix: 'Remove some.',
});

const syntaxFault = (
  { message, pos: [offset] }: YAMLError,
  at: (offset: number) => Position,
): Fault => ({
  position: at(offset),
  field: 'YAML',
  expected: 'valid YAML',
  // The parser's quotation comes last, after a colon.
  found: `a syntax error (${(message.split(/: "|\n/)[0] ?? '').slice(0, LONGEST_MESSAGE)})`,
  fix: 'Check indentation and quotes from here upwards.',
});

/** Without the blank, the key and its value are one text, which goes on in the next line. */
function blankFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const { start, line } = lineAt(source, offset);
  const { key } = WITHOUT_BLANK.exec(line)?.groups ?? {};
  if (key === undefined) return undefined;
  return {
    position: at(start + line.indexOf(`${key}:`) + key.length),
    field: key,
    expected: 'a blank after the colon',
    found: 'none',
    fix: `Write "${key}: " and then the value.`,
  };
}

/** A quote that is not closed is noticed lines below, where the next one or the end is. */
function quoteFault(
  source: string,
  offset: number,
  at: (offset: number) => Position,
): Fault | undefined {
  const quoted = quotedIn(source).findLast(({ start, end }) => start < offset && end >= offset - 1);
  if (quoted === undefined) return undefined;
  const text = source.slice(quoted.start, quoted.end);
  const isOpen = text.length === 1 || !text.endsWith(text.charAt(0));
  if (!isOpen && !text.includes('\n')) return undefined;
  return {
    position: at(quoted.start),
    field: 'YAML',
    expected: `a text that its quote closes`,
    found: `${text.startsWith("'") ? 'a single' : 'a double'} quote that is open here, until line ${at(quoted.end).line}`,
    fix: "Close it at the end of the text. A quote of the same kind within it is doubled ('') or has a backslash (\\\").",
  };
}

/** What the lexer inserts between tokens, without being in the source (yaml, parse/cst). */
const MARKS: ReadonlySet<string> = new Set(['\u{FEFF}', '\u0002', '\u0018', '\u001f']);
/** The next token is a plain or block scalar, which may begin with a quote. */
const SCALAR = '\u001f';

/** Every quoted scalar, by its place in the source. Token by token: a tree could be too deep to walk. */
function quotedIn(source: string): { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  let start = 0;
  let before = '';
  for (const token of new Lexer().lex(source)) {
    const isMark = MARKS.has(token);
    const end = isMark ? start : start + token.length;
    if (!isMark && before !== SCALAR && /^['"]/.test(token)) found.push({ start, end });
    start = end;
    before = token;
  }
  return found;
}

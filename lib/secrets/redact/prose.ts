import type { Span } from './rule.ts';
import { Q } from './separators.ts';
import { isBreak } from './unwrap.ts';

/** What follows the name in "password: must not be empty", "Password: changed at 12:00". */
const PROSE = new Set(
  'a an and are at authentication be been but by can cannot changed could denied did does empty enter error entered expired expires failed for from has have if in incorrect invalid is it match mismatch missing must new no not of on only or please provided rejected required retype set should than that the this to too unauthorized unknown used using was will with wrong you your'.split(
    ' ',
  ),
);

/** Whether the value is the first word of a sentence. */
export function isProse(text: string, { start, end }: Span): boolean {
  const word = /^[A-Za-z]{1,15}(?=[:.,]?(?:\s|$))/.exec(text.slice(start, end))?.[0];
  if (word === undefined || !PROSE.has(word.toLowerCase())) return false;
  return start + word.length < end || text[end] === ' ';
}

/** Marks of a list or a comment, keywords of shells and image files. */
const LEADING =
  '(?:(?:[-+>*#;~]{1,3}|export|set|setenv|local|declare(?: -\\w+)?|readonly|ENV|ARG)[^\\S\\n]{1,8}){0,2}';
const FIRST = new RegExp(
  `^(?:[^\\S\\n]{0,80}(?:[|]|\\xe2\\x94\\x82))?[^\\S\\n]{0,200}${LEADING}\`?$`,
);
/** Of what a logger writes before a message. */
const BRACKET = /\]:? /;
/** The same in a text that is quoted. */
const QUOTED = new RegExp(`(?<quote>${Q})[^\\S\\n]{0,80}(?:- |# |export )?$`);
const MAX_PREFIX = 600;

/** Where in its line a name stands: as its first word, as the first of a line of a quoted text, or elsewhere. */
export type Position = 'first' | 'quoted' | 'elsewhere';

/** What stands before a name in its line. */
export interface LineStart {
  readonly text: string;
  /** The line is one of a text that is quoted. */
  readonly isQuoted: boolean;
  /** The quote with which such a text begins in this line, before its first name, and what stands between. */
  readonly quote?: string;
  readonly indent: string;
}

export function startOfLine(text: string, at: number): LineStart {
  const floor = Math.max(0, at - MAX_PREFIX - 1);
  let start = at;
  while (start > floor && !isBreak(text[start - 1])) start--;
  const own = text.slice(start, at);
  const isQuoted = start > floor && text[start - 1] !== '\n';
  const quoted = QUOTED.exec(own);
  const quote = quoted?.groups?.quote;
  return quoted === null || quote === undefined
    ? { text: own, isQuoted, indent: own }
    : { text: own, isQuoted, quote, indent: quoted[0].slice(1) };
}

export function positionOf({ text, isQuoted, quote }: LineStart): Position {
  if (quote !== undefined) return 'quoted';
  if (text.endsWith('\0')) return 'first';
  if (text.length > MAX_PREFIX) return 'elsewhere';
  const bracket = Math.max(text.lastIndexOf('] '), text.lastIndexOf(']: '));
  const message = bracket === -1 ? text : text.slice(bracket).replace(BRACKET, '');
  if (!FIRST.test(message)) return 'elsewhere';
  return isQuoted ? 'quoted' : 'first';
}

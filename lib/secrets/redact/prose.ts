import type { Span } from './line-rule.ts';
import { COLOUR } from './separators.ts';

/** What follows the name in "password: must not be empty", "Password: changed at 12:00". */
const PROSE = new Set(
  'a an and are at authentication be been but by can cannot changed could denied did does empty enter error entered expired expires failed for from has have if in incorrect invalid is it match mismatch missing must new no not of on only or please provided rejected required retype set should than that the this to too unauthorized unknown used using was will with wrong you your'.split(
    ' ',
  ),
);

/** Whether the value is the first word of a sentence. */
export function isProse(line: string, { start, end }: Span): boolean {
  const word = /^[A-Za-z]{1,15}(?=[:.,]?(?:\s|$))/.exec(line.slice(start, end))?.[0];
  if (word === undefined || !PROSE.has(word.toLowerCase())) return false;
  return start + word.length < end || line[end] === ' ';
}

/** The beginning of a line's message: after what a journal, syslog, klog or a runtime writes before it. */
const MESSAGE =
  '(?:^|\\]: |\\] |std(?:out|err) [FP] |^(?:[A-Z][a-z]{2} [ \\d]\\d [\\d:]{8}|\\d{4}-\\d\\d-\\d\\d[T ]\\S{8,30}) \\S{1,64} [^\\s:]{1,64}: |\\0|^[^\\S\\n]{0,80}(?:[|]|\\xe2\\x94\\x82))';
/** Marks of a list or a comment, keywords of shells and image files. */
const LEADING =
  '(?:(?:[-+>*#;]{1,3}|export|set|setenv|local|declare(?: -\\w+)?|readonly|ENV|ARG)[^\\S\\n]{1,8}){0,2}';
const FIRST = new RegExp(`${MESSAGE}[^\\S\\n]{0,200}${LEADING}(?:${COLOUR})?["'\`]?$`);
/** The same in a text that is quoted: after its quote, or after an escaped newline. */
const FIRST_QUOTED =
  /(?:\\{0,15}(?<quote>["'`])|\\{1,15}[nr])(?:\\t|[^\S\n]){0,80}(?:- |# |export )?$/;

/** How a match ends, apart from blanks. Tested first, which takes a tenth of the time. */
const ENDS_QUOTED = /["'`#-]$|\\[nrt]$|rt$/;

const MAX_PREFIX = 512;
const MAX_QUOTED = 120;

/** Where in its line a name stands: as its first word, as the first of a line of a quoted text, or elsewhere. */
export type Position = 'first' | 'elsewhere' | { readonly quote: string };

export function positionOf(line: string, start: number): Position {
  const quoted = ENDS_QUOTED.test(lastBefore(line, start))
    ? FIRST_QUOTED.exec(line.slice(Math.max(0, start - MAX_QUOTED), start))
    : null;
  if (quoted !== null) return { quote: quoted.groups?.quote ?? '"' };
  if (line[start - 1] === '\0') return 'first';
  return start <= MAX_PREFIX && FIRST.test(line.slice(0, start)) ? 'first' : 'elsewhere';
}

/** The last two characters before `at`, without the blanks after them. */
function lastBefore(line: string, at: number): string {
  const floor = Math.max(0, at - MAX_QUOTED);
  let end = at;
  while (end > floor && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(Math.max(floor, end - 2), end);
}

/** Of latin1. */
const isBlank = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;

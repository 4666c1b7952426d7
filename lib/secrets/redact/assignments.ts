import { aliased } from './anchors.ts';
import { type Name, ofValue } from './assigned-value.ts';
import { ASSIGNMENT_TRIGGERS } from './assignment-triggers.ts';
import type { InLine, LinePlace, LineRule } from './line-rule.ts';
import { looksRandom, sensitivityOf } from './names.ts';
import { type Position, positionOf } from './prose.ts';
import { matchAt, type Separator, separatorAfter } from './separators.ts';
import { type ValueExtent, valueAt } from './value-extent.ts';
import { linesBelow } from './value-lines.ts';
import { inTable, judgedBelow, namedValue, valueLines, withParts } from './values-below.ts';

/** What is assigned to a name, in every notation that programs use. */
export const ASSIGNMENTS: LineRule = { triggers: ASSIGNMENT_TRIGGERS, at: assignmentAt };

/** How far before a name the line is examined. */
const LOOK_BACK = 600;

function assignmentAt(place: LinePlace): InLine {
  const { text } = place.line;
  const name = nameAround(text, place.at, place.length);
  const nothing: InLine = { next: name.end, secrets: [] };
  if (text.startsWith('${', name.start - 2)) return defaultOf(place, name) ?? nothing;
  if (name.sensitivity === 'never') return nothing;
  const position = positionOf(text, name.start);
  const separator = separatorAfter(text, name.end, {
    name: name.text,
    before: textBefore(text, name.start),
    isFirst: position === 'first',
  });
  // A column of one line, or of a table.
  const table = separator?.by === 'column' ? inTable(place, name) : undefined;
  if (table !== undefined && table.secrets.length > 0) return table;
  if (separator === undefined) {
    return namedValue(place, name) ?? inTable(place, name) ?? nothing;
  }
  if (separator.value !== undefined) {
    return ofValue(name, { value: separator.value, isQuoted: true }, place.line, false) ?? nothing;
  }
  return (
    valueLines(place, name, separator, position) ??
    inLine(place, name, separator, position) ??
    nothing
  );
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

function nameAround(line: string, at: number, length: number): Name {
  let start = at;
  // What stands before the name can be a part of the trigger too; a part of the name always is.
  while (!isInName(line.charCodeAt(start))) start++;
  while (isInName(line.charCodeAt(start - 1))) start--;
  let end = at + length;
  // What stands after the name can be a part of the trigger.
  while (!isInName(line.charCodeAt(end - 1))) end--;
  while (isInName(line.charCodeAt(end))) end++;
  // Of an arrow.
  while (line[end - 1] === '-') end--;
  start += escapeEnd(line, start);
  const text = line.slice(start, end);
  return { start, end, text, sensitivity: sensitivityOf(text) };
}

const ESCAPES: Readonly<Record<string, RegExp>> = {
  // The end of a terminal's colour.
  '[': /^\d{1,3}m/,
  ';': /^\d{1,3}m/,
  '\\': /^(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[nrt])/i,
};

/** The length of what looks like the beginning of a name but ends an escape. */
function escapeEnd(line: string, start: number): number {
  return ESCAPES[line.charAt(start - 1)]?.exec(line.slice(start))?.[0].length ?? 0;
}

/** Up to the default value of a shell's variable: `${NAME-value}`, `${NAME:=value}`. */
const DEFAULT = /(?<variable>\w{1,200}):?[-=]/y;

/** The default value of the variable that begins where the name does. */
function defaultOf({ line }: LinePlace, { start }: Name): InLine | undefined {
  const variable = matchAt(DEFAULT, line.text, start)?.groups?.variable;
  if (variable === undefined) return undefined;
  const read = valueAt(line.text, DEFAULT.lastIndex, { quote: '}' });
  return read === undefined ? undefined : ofValue({ text: variable }, read, line, false);
}

/** A value without quotes goes to the line's end where a line begins with its name, as in files of settings. */
function extentOf(line: string, name: Name, separator: Separator, position: Position): ValueExtent {
  const { by, end } = separator;
  if (line[end - 1] === '\0' || line[name.start - 1] === '\0') return 'argument';
  if (name.sensitivity !== 'always' || name.text.startsWith('-')) return 'word';
  if (by === 'column') return 'line';
  if (by === 'word' && isInStruct(line, name.start)) return 'field';
  if (by !== 'colon' && by !== 'equals') return 'word';
  if (position !== 'elsewhere') return position === 'first' ? 'line' : position;
  return /(?:passphrase|psk)$/i.test(name.text) && isInQuotes(line, name.start)
    ? { quote: '"' }
    : 'word';
}

/** Whether a quote has begun before: then it ends what has more words than one. */
const isInQuotes = (line: string, at: number) => textBefore(line, at).split('"').length % 2 === 0;

/** Whether a struct or a map that Go prints has begun before. */
function isInStruct(line: string, at: number): boolean {
  const before = textBefore(line, at);
  const open = Math.max(before.lastIndexOf('{'), before.lastIndexOf('map['));
  return open > before.lastIndexOf('}');
}

const textBefore = (line: string, at: number) => line.slice(Math.max(0, at - LOOK_BACK), at);

function inLine(
  { line, lines, isLast }: LinePlace,
  name: Name,
  separator: Separator,
  position: Position,
): InLine | undefined {
  const extent = extentOf(line.text, name, separator, position);
  const read = valueAt(line.text, separator.end, extent);
  if (read === undefined) return undefined;
  const value = line.text.slice(read.value.start, read.value.end);
  if (separator.by === 'stated' && !isMade(name, value)) return undefined;
  const alias = separator.by === 'colon' ? aliased(value, line, lines) : undefined;
  if (alias !== undefined) return judgedBelow(name, { secrets: [alias] }, line);
  // A file of settings has no sentences.
  const isSetting = separator.by === 'equals' && extent !== 'word';
  const whole = ofValue(name, read, line, !isSetting);
  const found = whole && withParts(whole, { line, lines }, read);
  if (found === undefined || position !== 'first' || separator.by !== 'colon') return found;
  // In YAML and LDIF a value can continue on the next line.
  if (extent === 'word' || (read.isQuoted && read.isCut !== true)) return found;
  const until = read.isQuoted ? line.text[read.value.start - 1] : undefined;
  const below = linesBelow({ line, lines, isLast }, name.start, {
    isAny: false,
    ...(until && { until }),
  });
  return { ...found, secrets: [...found.secrets, ...below.secrets], isOpen: below.isOpen };
}

/** In a sentence. */
const isMade = ({ sensitivity }: Name, value: string) =>
  looksRandom(value) || (sensitivity === 'always' && /\d/.test(value) && /[a-z]/i.test(value));

import { aliased } from './anchors.ts';
import { ASSIGNMENT_TRIGGERS } from './assignment-triggers.ts';
import type { InLine, LineRule, Place, Secret, Span } from './line-rule.ts';
import {
  isPath,
  isReference,
  isSecretValue,
  looksRandom,
  type Sensitivity,
  sensitivityOf,
} from './names.ts';
import { isProse, type Position, positionOf } from './prose.ts';
import { type Separator, separatorAfter } from './separators.ts';
import type { TextLine } from './text-lines.ts';
import { type Extent, type Value, valueAt, wholeEnd } from './value-extent.ts';
import { isBlock, isEmpty, itemBelow, linesBelow, namedBelow, quotedBlock } from './value-lines.ts';

/** What is assigned to a name, in any of the ways in which programs write that. */
export const ASSIGNMENTS: LineRule = { triggers: ASSIGNMENT_TRIGGERS, at: assignmentAt };

interface Name extends Span {
  readonly text: string;
  readonly sensitivity: Sensitivity;
}

function assignmentAt(place: Place): InLine {
  const { text } = place.line;
  const name = nameAround(text, place.at, place.length);
  const nothing: InLine = { next: name.end, secrets: [] };
  if (name.sensitivity === 'never' || isVariable(text, name)) return nothing;
  const position = positionOf(text, name.start);
  const separator = separatorAfter(text, name.end, {
    name: name.text,
    before: text.slice(Math.max(0, name.start - 600), name.start),
    isFirst: position === 'first',
  });
  if (separator === undefined) return namedValue(place, name) ?? nothing;
  if (separator.value !== undefined) {
    return ofValue(name, { value: separator.value, isQuoted: true }, place.line) ?? nothing;
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
  // What stands before the name can be a part of the trigger too.
  while (start < at + length && !isInName(line.charCodeAt(start))) start++;
  while (isInName(line.charCodeAt(start - 1))) start--;
  let end = at + length;
  // What stands after the name can be a part of the trigger.
  while (end > at && !isInName(line.charCodeAt(end - 1))) end--;
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

/** The length of what seems to be the beginning of a name, and ends an escape. */
function escapeEnd(line: string, start: number): number {
  return ESCAPES[line[start - 1] ?? '']?.exec(line.slice(start, start + 5))?.[0].length ?? 0;
}

/** `${NAME}` of a shell, and not its default value. */
const isVariable = (line: string, { start, end }: Name) =>
  line.startsWith('${', start - 2) && !/^:?[-=]/.test(line.slice(end, end + 2));

/** A value without quotes goes to the line's end where a line begins with its name, as in files of settings. */
function extentOf(line: string, name: Name, separator: Separator, position: Position): Extent {
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
const isInQuotes = (line: string, at: number) =>
  (line.slice(Math.max(0, at - 600), at).split('"').length & 1) === 0;

/** Whether a struct or a map that Go prints has begun before. */
function isInStruct(line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 600), at);
  const open = Math.max(before.lastIndexOf('{'), before.lastIndexOf('map['));
  return open !== -1 && open > before.lastIndexOf('}');
}

function inLine(
  { line, lines, isLast }: Place,
  name: Name,
  separator: Separator,
  position: Position,
): InLine | undefined {
  const extent = extentOf(line.text, name, separator, position);
  const read = valueAt(line.text, separator.end, extent);
  if (read === undefined || (separator.by === 'quote' && !read.isQuoted)) return undefined;
  const value = line.text.slice(read.value.start, read.value.end);
  if (separator.by === 'stated' && !isMade(name, value)) return undefined;
  const alias = separator.by === 'colon' ? aliased(value, line, lines) : undefined;
  if (alias !== undefined) return { next: read.value.end, secrets: [alias] };
  // A file of settings has no sentences.
  const isSetting = separator.by === 'equals' && extent !== 'word';
  const found = ofValue(name, read, line, !isSetting);
  if (found === undefined || position !== 'first' || separator.by !== 'colon') return found;
  // In YAML and LDIF a value can go on.
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

/** The value that is read, if it has to go. */
function ofValue(
  name: Name,
  { value, isQuoted }: Value,
  line: TextLine,
  canBeProse = true,
): InLine | undefined {
  const { text } = line;
  const start = value.start;
  if (!isSecretValue(name.text, text.slice(start, value.end))) return undefined;
  if (!isQuoted && ((canBeProse && isProse(text, value)) || isElsewhere(text, value))) {
    return undefined;
  }
  const end = isQuoted ? value.end : wholeEnd(text, value);
  return { next: end, secrets: [{ start, end }] };
}

/** Whether the first of several words says where the value comes from. */
function isElsewhere(line: string, { start, end }: Span): boolean {
  const word = /^\S{1,512}(?=\s)/.exec(line.slice(start, Math.min(end, start + 513)))?.[0];
  return word !== undefined && (isPath(word) || isReference(word));
}

/** `password: |` and the lines below it; a value that begins on the next line. */
function valueLines(
  place: Place,
  name: Name,
  separator: Separator,
  position: Position,
): InLine | undefined {
  if (separator.by !== 'colon') return undefined;
  const { text } = place.line;
  const inQuotes = quotedBlock(text, separator.end);
  if (inQuotes !== undefined)
    return judged(name, { next: inQuotes.end, secrets: [inQuotes] }, place.line);
  const isAny = isBlock(text, separator.end);
  const isBelow =
    position === 'first' && name.sensitivity === 'always' && isEmpty(text, separator.end);
  if (!isAny && !isBelow) return undefined;
  return judged(
    name,
    { next: separator.end, ...linesBelow(place, name.start, { isAny }) },
    place.line,
  );
}

/** Under a name that is only sometimes a secret's, the lines that look like one. */
function judged(name: Name, found: InLine, own: TextLine): InLine {
  const secrets = found.secrets.filter(({ line = own, start, end }) =>
    isSecretValue(name.text, line.text.slice(start, end)),
  );
  return { ...found, secrets };
}

/** The name and the value of an environment variable on two lines. */
function namedValue(place: Place, name: Name): InLine | undefined {
  const item = name.text.startsWith('-') ? itemBelow(place, name) : undefined;
  if (item !== undefined) {
    const isOpen = !place.isLast && place.lines.after(item.line) === undefined;
    return judged(name, { next: name.end, secrets: [item], isOpen }, place.line);
  }
  const below = namedBelow(place, name);
  if (below === undefined) return undefined;
  const { line, at } = below;
  if (isBlock(line.text, at)) {
    const lines = linesBelow({ ...place, line }, columnOf(line), { isAny: true });
    return judged(name, { next: name.end, ...lines }, line);
  }
  const read = valueAt(line.text, at, 'line');
  const found = read === undefined ? undefined : ofValue(name, read, line);
  if (found === undefined) return undefined;
  const secrets: Secret[] = found.secrets.map((secret) => ({ ...secret, line }));
  // The last line is looked at again, and then needs the one above it.
  const isOpen = !place.isLast && place.lines.after(line) === undefined;
  return { next: name.end, secrets, isOpen };
}

const columnOf = ({ text }: TextLine) => text.search(/value/i);

import { type Name, ofValue } from './assigned-value.ts';
import type { InLine, LinePlace, LineSecret } from './line-rule.ts';
import { isSecretValue } from './names.ts';
import { continuedBelow, inNextParts, quotedBelow, wordBelow } from './next-line.ts';
import type { Position } from './prose.ts';
import { endOf, matchAt, type Separator } from './separators.ts';
import { cellsBelow } from './tables.ts';
import type { TextLine } from './text-lines.ts';
import { type Value, valueAt } from './value-extent.ts';
import {
  isBlock,
  isEmpty,
  itemBelow,
  linesBelow,
  namedBelow,
  quotedBlock,
  valueEntry,
} from './value-lines.ts';

/** Quotes of a text of many lines, in TOML and Python. */
const TRIPLE = /'''|"""/y;
/** A backslash at the end of a line of a shell. */
const CONTINUED = /\\\s*$/y;

/** `password: |` and the lines below it; a value that begins on the next line. */
export function valueLines(
  place: LinePlace,
  name: Name,
  separator: Separator,
  position: Position,
): InLine | undefined {
  const { text } = place.line;
  const quote = matchAt(TRIPLE, text, separator.end)?.[0];
  if (quote !== undefined) {
    return judgedBelow(name, quotedBelow(place, quote, TRIPLE.lastIndex), place.line);
  }
  if (endOf(CONTINUED, text, separator.end) !== undefined) {
    return judgedBelow(name, { secrets: continuedBelow(place) }, place.line);
  }
  if (separator.by !== 'colon') return undefined;
  const inQuotes = quotedBlock(text, separator.end);
  if (inQuotes !== undefined) return judgedBelow(name, { secrets: [inQuotes] }, place.line);
  const isAny = isBlock(text, separator.end);
  const isAtEnd = isEmpty(text, separator.end);
  if (isAtEnd && position === 'elsewhere') {
    return judgedBelow(name, wordBelow(place), place.line);
  }
  if (!isAny && !(isAtEnd && position === 'first')) return undefined;
  return judgedBelow(name, linesBelow(place, name.start, { isAny }), place.line);
}

/** The values under a name in the header of a table. */
export function inTable(place: LinePlace, name: Name): InLine | undefined {
  const below = cellsBelow(place, name);
  return below && judgedBelow(name, below, place.line);
}

/** Also the rest of a value in the next parts of a line that a container runtime has cut. */
export function withParts(
  found: InLine,
  place: Pick<LinePlace, 'line' | 'lines'>,
  read: Value,
): InLine {
  const quote = read.isQuoted ? place.line.text[read.value.start - 1] : undefined;
  const secrets = inNextParts(place, read.value, quote);
  return { ...found, secrets: [...found.secrets, ...secrets] };
}

/** Under a name that is only sometimes that of a secret: the lines that look like one. */
export function judgedBelow(
  name: Name,
  found: Pick<InLine, 'secrets' | 'isOpen'>,
  own: TextLine,
): InLine {
  const secrets = found.secrets.filter(({ line = own, start, end }) =>
    isSecretValue(name.text, line.text.slice(start, end)),
  );
  return { ...found, next: name.end, secrets };
}

/** The name and the value of an environment variable on two lines. */
export function namedValue(place: LinePlace, name: Name): InLine | undefined {
  const item = name.text.startsWith('-') ? itemBelow(place, name) : undefined;
  if (item !== undefined) return judgedBelow(name, { secrets: [item] }, place.line);
  const below = namedBelow(place, name);
  if (below === undefined) return undefined;
  const { line, at } = below;
  if (isBlock(line.text, at)) {
    const lines = linesBelow({ ...place, line }, columnOf(line), { isAny: true });
    return judgedBelow(name, lines, line);
  }
  // In a diff, the old value and the new one.
  const next = line.text.startsWith('-') ? place.lines.after(line) : undefined;
  const added = next?.text.startsWith('+') ? valueEntry(next) : undefined;
  const entries = [below, added].filter((entry) => entry !== undefined);
  const secrets = entries.flatMap((entry) => entryValue(name, entry));
  // The new value can be on the first line of the next bytes.
  return judgedBelow(name, { secrets, isOpen: place.lines.after(line) === undefined }, line);
}

function entryValue(name: Name, { line, at }: { line: TextLine; at: number }): LineSecret[] {
  const read = valueAt(line.text, at, 'line');
  const found = read && ofValue(name, read, line, false);
  return found?.secrets.map((secret) => ({ ...secret, line })) ?? [];
}

const columnOf = ({ text }: TextLine) => text.search(/value/i);

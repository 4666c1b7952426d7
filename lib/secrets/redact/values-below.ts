import { type Name, ofValue } from './assigned-value.ts';
import type { InLine, Place, Secret } from './line-rule.ts';
import { isSecretValue, looksRandom } from './names.ts';
import { continuedBelow, inNextParts, quotedBelow, wordBelow } from './next-line.ts';
import type { Position } from './prose.ts';
import type { Separator } from './separators.ts';
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
const TRIPLE = "'''";
const TRIPLE_DOUBLE = '""' + '"';

/** `password: |` and the lines below it; a value that begins on the next line. */
export function valueLines(
  place: Place,
  name: Name,
  separator: Separator,
  position: Position,
): InLine | undefined {
  const { text } = place.line;
  const rest = text.slice(separator.end, separator.end + 8).trim();
  const isLast = text.trimEnd().length <= separator.end + rest.length;
  if (isLast && (rest === TRIPLE || rest === TRIPLE_DOUBLE)) {
    return judged(name, { next: separator.end, ...quotedBelow(place, rest) }, place.line);
  }
  if (isLast && rest === '\\') {
    return judged(name, { next: separator.end + 1, ...continuedBelow(place) }, place.line);
  }
  if (separator.by !== 'colon') return undefined;
  const inQuotes = quotedBlock(text, separator.end);
  if (inQuotes !== undefined)
    return judged(name, { next: inQuotes.end, secrets: [inQuotes] }, place.line);
  const isAny = isBlock(text, separator.end);
  const isAtEnd = isEmpty(text, separator.end);
  if (isAtEnd && position === 'elsewhere') {
    return made(judged(name, { next: separator.end, ...wordBelow(place) }, place.line));
  }
  const isBelow = position === 'first' && name.sensitivity === 'always' && isAtEnd;
  if (!isAny && !isBelow) return undefined;
  return judged(
    name,
    { next: separator.end, ...linesBelow(place, name.start, { isAny }) },
    place.line,
  );
}

/** Under "...password:" at the end of a sentence, only a word that nobody would say. */
function made(found: InLine): InLine {
  const secrets = found.secrets.filter(({ line, start, end }) => {
    const value = line?.text.slice(start, end) ?? '';
    return looksRandom(value) || (/\d/.test(value) && /[a-z]/i.test(value) && value.length >= 8);
  });
  return { ...found, secrets };
}

/** The values under a name in the header of a table. */
export function inTable(place: Place, name: Name): InLine | undefined {
  const below = cellsBelow(place, name);
  return below && judged(name, { next: name.end, ...below }, place.line);
}

/** Also what of the value stands in the next parts of a line that a container runtime has cut. */
export function withParts(
  found: InLine,
  place: Pick<Place, 'line' | 'lines' | 'isLast'>,
  read: Value,
): InLine {
  if (read.isQuoted && read.isCut !== true) return found;
  const quote = read.isQuoted ? place.line.text[read.value.start - 1] : undefined;
  const below = inNextParts(place, read.value, quote);
  return {
    ...found,
    secrets: [...found.secrets, ...below.secrets],
    isOpen: found.isOpen === true || below.isOpen,
  };
}

/** Under a name that is only sometimes a secret's, the lines that look like one. */
export function judged(name: Name, found: InLine, own: TextLine): InLine {
  const secrets = found.secrets.filter(({ line = own, start, end }) =>
    isSecretValue(name.text, line.text.slice(start, end)),
  );
  return { ...found, secrets };
}

/** The name and the value of an environment variable on two lines. */
export function namedValue(place: Place, name: Name): InLine | undefined {
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
  // In a diff, the old value and the new one.
  const next = line.text.startsWith('-') ? place.lines.after(line) : undefined;
  const added = next?.text.startsWith('+') ? valueEntry(next) : undefined;
  const entries = [below, added].filter((entry) => entry !== undefined);
  const secrets = entries.flatMap((entry) => entryValue(name, entry));
  // The last line is looked at again, and then needs those above it.
  const last = entries.at(-1)?.line ?? line;
  return {
    next: name.end,
    secrets,
    isOpen: !place.isLast && place.lines.after(last) === undefined,
  };
}

function entryValue(name: Name, { line, at }: { line: TextLine; at: number }): Secret[] {
  const read = valueAt(line.text, at, 'line');
  const found = read && ofValue(name, read, line, false);
  return found?.secrets.map((secret) => ({ ...secret, line })) ?? [];
}

const columnOf = ({ text }: TextLine) => text.search(/value/i);

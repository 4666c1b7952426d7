import type { LinePlace, LineSecret, Span } from './line-rule.ts';
import { endOf, matchAt, spanOf } from './separators.ts';
import type { TextLine, TextLines } from './text-lines.ts';

/** No value has more lines in print, where something else hides its end. */
const MAX_LINES = 200;
/** `|`, `>-`, `|2+`, also after a tag. */
const HEADER = '(?:![\\w!./-]{1,64}[^\\S\\n]{1,8})?[|>][-+0-9]{0,2}';
/** Nothing may follow but a comment, or what ends the message of a record. */
const BLOCK = new RegExp(`${HEADER}[^\\S\\n]{0,8}(?:#.*|\\\\{1,7}n["'].*)?\\r?$`, 'y');
const EMPTY = /[^\S\n]{0,8}\r?$/y;
const NEXT = '(?:\\\\{1,7}r)?\\\\{1,7}n {1,80}';
const TEXT = '[^\\\\"\\n]{1,4096}';
/** A block in a text that is quoted. */
const QUOTED_BLOCK = new RegExp(`${HEADER}${NEXT}(?<lines>${TEXT}(?:${NEXT}${TEXT}){0,199})`, 'dy');
/** The end of a message in a record. */
const MESSAGE_END = /\\{1,7}n["']/;
/** What begins something other than a line of a value. */
const ENTRY = /^(?:[-?] |[#}\]<]|["']?[\w.$/-]{1,128}["']?\s{0,8}(?::(?:\s|$)|=\s))/;

/** The only entry of a mapping that holds the value. */
const VALUE_ENTRY = /value:[^\S\n]{1,8}["']?(?=[^\s"'{[|>&*])/y;

/** Lines of a value. */
export interface Below {
  readonly secrets: readonly LineSecret[];
  /** The stream's next bytes can have more of them. */
  readonly isOpen: boolean;
}

/** Whether a block of lines begins at `at`, as `password: |` begins one. */
export const isBlock = (line: string, at: number): boolean => endOf(BLOCK, line, at) !== undefined;

/** Whether nothing stands at `at`, so that the value can be on the next line. */
export const isEmpty = (line: string, at: number): boolean => endOf(EMPTY, line, at) !== undefined;

/** The lines of a block that begins at `at` and continues in the same line, after escaped newlines. */
export function quotedBlock(line: string, at: number): Span | undefined {
  return spanOf(matchAt(QUOTED_BLOCK, line, at), 'lines');
}

/**
 * The lines after that of a name which are its value: those that are indented further than the name's
 * column, each of which may have a prefix as long as the name's line. `isAny`: whatever they look like; else
 * as long as they look like no other entry. `until`: the quote that ends the value.
 */
export function linesBelow(
  { line, lines, isLast }: Pick<LinePlace, 'line' | 'lines' | 'isLast'>,
  column: number,
  { isAny, until }: { isAny: boolean; until?: string },
): Below {
  const secrets: LineSecret[] = [];
  let previous = line;
  for (let count = 0; count < MAX_LINES; count++) {
    const next = lines.after(previous);
    if (next === undefined) return { secrets, isOpen: !isLast };
    previous = next;
    const value = indented(next, line.text, column);
    if (value === undefined) {
      if (isAny && next.text.slice(column).trim() === '') continue;
      break;
    }
    const text = next.text.slice(value.start, value.end);
    if (!isAny && ENTRY.test(text)) {
      const inner = secrets.length > 0 ? undefined : endOf(VALUE_ENTRY, text, 0);
      if (inner !== undefined) secrets.push({ ...value, start: value.start + inner, line: next });
      break;
    }
    const close = until === undefined ? -1 : text.indexOf(until);
    secrets.push({ ...value, end: close === -1 ? value.end : value.start + close, line: next });
    if (close !== -1) break;
  }
  // The last line of these bytes is looked at again with the next ones, and then needs those above it.
  return { secrets, isOpen: !isLast && lines.after(previous) === undefined };
}

/** What stands on a line after its indentation, if that is deeper than `column` of the first line. */
function indented({ text }: TextLine, first: string, column: number): Span | undefined {
  const rest = text.slice(column);
  const value = rest.trimStart();
  if (value === '' || value === rest) return undefined;
  // Before the column stand blanks, or a prefix of a log in both lines.
  const hasPrefix = first.slice(0, column).replace(/[-?\s]*$/, '') !== '';
  if (hasPrefix !== (text.slice(0, column).trim() !== '')) return undefined;
  const start = text.length - value.length;
  const end = MESSAGE_END.test(first) ? value.search(MESSAGE_END) : -1;
  return { start, end: end === -1 ? text.trimEnd().length : start + end };
}

const NAME_KEY =
  /(?<=(?:^|[\s{,"'])-?\s{0,8}\\{0,15}["']?name\\{0,15}["']?:\s{0,8}\\{0,15}["']?)/iy;
const VALUE_KEY = /^.{0,400}?(?<=^|[\s"'])value\\{0,15}["']?:\s{1,8}/iy;
const AFTER_NAME = /\\{0,15}["']?,?\s*$/y;

/** Where the value begins on the next line: `- name: X` and `  value: …`, `"name": "X",` and `"value": "…"`. */
export function namedBelow(
  { line, lines }: { line: TextLine; lines: TextLines },
  { start, end }: Span,
): { line: TextLine; at: number } | undefined {
  if (endOf(AFTER_NAME, line.text, end) === undefined) return undefined;
  if (endOf(NAME_KEY, line.text, start) === undefined) return undefined;
  const below = lines.after(line);
  return below && valueEntry(below);
}

/** A line with the entry `value` of a mapping. */
export function valueEntry(line: TextLine): { line: TextLine; at: number } | undefined {
  const at = endOf(VALUE_KEY, line.text, 0);
  return at === undefined ? undefined : { line, at };
}

/** Without a mark, as kubectl describes a command: only blanks. */
const ITEM_BEFORE = /(?<=(?:^|\s)(?<mark>- ["']?|["'])|^\s*)/y;
/** An entry of a list in YAML or JSON, but no option. */
const ITEM = /^(?:- )?["']?(?!-)(?<value>[^"'\s][^"']{0,4096}?)["']?,?\s*$/d;

const ONE_WORD = /^(?!-)(?<value>\S{1,4096})\s*$/d;

/** The entry after an option's in a list of arguments, each of which has a line of its own. */
export function itemBelow(
  { line, lines }: { line: TextLine; lines: TextLines },
  { start, end }: Span,
): (Span & { readonly line: TextLine }) | undefined {
  if (endOf(AFTER_NAME, line.text, end) === undefined) return undefined;
  const before = matchAt(ITEM_BEFORE, line.text, start);
  if (before === undefined) return undefined;
  const { mark = '' } = before.groups ?? {};
  const below = lines.after(line);
  if (below === undefined) return undefined;
  const column = start - mark.length;
  // In the same column, after blanks or the prefix of a log.
  if (!/^\s?$/.test(below.text.slice(column - 1, column))) return undefined;
  const item = mark === '' ? ONE_WORD : ITEM;
  const place = spanOf(matchAt(item, below.text.slice(column), 0), 'value');
  return place && { start: column + place.start, end: column + place.end, line: below };
}

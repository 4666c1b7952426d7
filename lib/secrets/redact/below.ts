import type { Span } from './rule.ts';
import { BREAK, endOf, Q, spanOf } from './separators.ts';
import { isBreak } from './unwrap.ts';
import { looksLikeSecret } from './values.ts';

/** No value has more lines in print, where something else hides its end. */
const MAX_LINES = 200;
/** `|`, `>-`, `|2+`, also after a tag. Nothing may follow but a comment. */
const BLOCK = new RegExp(
  `(?:![\\w!./-]{1,64}[^\\S\\n]{1,8})?[|>][-+0-9]{0,2}[^\\S\\n]{0,8}(?:#[^\\n]*)?(?=${BREAK}|$)`,
  'y',
);
const EMPTY = new RegExp(`[^\\S\\n]{0,8}(?=${BREAK}|$)`, 'y');
/** What begins something other than a line of a value. */
const ENTRY = new RegExp(
  `^(?:[-?] |[#}\\]<]|${Q}?[\\w.$/-]{1,128}${Q}?\\s{0,8}(?::(?:\\s|$)|=\\s))`,
);
/** A short field beside the one that holds the value. */
const FIELD = /^[\w.-]{1,40}:\s{1,8}[\w.-]{1,40}$/;
const VALUE = new RegExp(`^value:[^\\S\\n]{1,8}${Q}?(?=[^\\s"'{[|>&*])`);
const ITEM = new RegExp(`^-[^\\S\\n]{1,8}${Q}?`);
const CLOSING = new RegExp(`${Q},?\\s*$`);

/** Lines of values. */
export interface Below {
  readonly values: readonly Span[];
  /** The stream's next bytes can have more of them. */
  readonly isOpen: boolean;
}

/** Whether a block of lines begins at `at`, as `password: |` begins one. */
export const isBlock = (text: string, at: number): boolean => endOf(BLOCK, text, at) !== undefined;

/** Whether nothing stands at `at`, so that the value can be on the next line. */
export const isEmpty = (text: string, at: number): boolean => endOf(EMPTY, text, at) !== undefined;

/** A line, without what ends it. */
export interface Line extends Span {
  readonly text: string;
}

const LINE_END = new RegExp(BREAK, 'g');

/** The end of the line around an offset. */
export function lineEnd(text: string, at: number): number {
  LINE_END.lastIndex = at;
  return LINE_END.exec(text)?.index ?? text.length;
}

/** The line after one that ends at `end`; the last line of a quoted text ends with its quote. */
export function lineAfter(text: string, end: number): Line | undefined {
  if (!isBreak(text[end])) return undefined;
  // `\r\n`, escaped.
  const start = text[end] !== '\n' && isBreak(text[end + 1]) ? end + 2 : end + 1;
  if (start >= text.length) return undefined;
  let last = lineEnd(text, start);
  if (text[end] !== '\n' && (last === text.length || text[last] === '\n')) {
    const quote = text.slice(start, last).indexOf('"');
    if (quote !== -1) last = start + quote;
  }
  return { start, end: last, text: text.slice(start, last) };
}

/**
 * The lines after that of a name which are its value: those that are indented further than the name's
 * column, and the items of a list. `isAny`: whatever they look like; else as long as they look like no other entry.
 */
export function linesBelow(
  text: string,
  { end, before }: { end: number; before: string },
  { isAny }: { isAny: boolean },
): Below {
  const values: Span[] = [];
  const column = before.length;
  let next = lineAfter(text, end);
  for (let count = 0; next !== undefined && count < MAX_LINES; count++) {
    const line: Line = next;
    next = lineAfter(text, line.end);
    const value = indented(line, before) ?? (isAny ? undefined : itemOf(line, before));
    if (value === undefined) {
      if (isAny && line.text.slice(column).trim() === '') continue;
      return { values, isOpen: false };
    }
    const own = text.slice(value.start, value.end);
    if (!isAny && ENTRY.test(own)) {
      if (ITEM.test(own)) {
        values.push(withoutQuotes(own, value, ITEM.exec(own)?.[0].length ?? 0));
        continue;
      }
      if (values.length > 0) return { values, isOpen: false };
      const inner = VALUE.exec(own)?.[0].length;
      if (inner !== undefined) return { values: [withoutQuotes(own, value, inner)], isOpen: false };
      if (FIELD.test(own)) continue;
      return { values, isOpen: false };
    }
    values.push(value);
  }
  return { values, isOpen: next === undefined };
}

const withoutQuotes = (own: string, { start, end }: Span, skipped: number): Span => ({
  start: start + skipped,
  end: end - (CLOSING.exec(own)?.[0].length ?? 0),
});

/** What stands on a line after its indentation, if that is deeper than what stands before the name. */
function indented({ start, text }: Line, before: string): Span | undefined {
  const rest = text.slice(before.length);
  const value = rest.trimStart();
  if (value === '' || value === rest) return undefined;
  // Before the column stand blanks, or the same mark in both lines.
  const hasPrefix = before.replace(/[-?\s]*$/, '') !== '';
  if (hasPrefix !== (text.slice(0, before.length).trim() !== '')) return undefined;
  return { start: start + text.length - value.length, end: start + text.trimEnd().length };
}

/** An item of a list that is indented as far as its name. */
function itemOf({ start, text }: Line, before: string): Span | undefined {
  if (before.trim() !== '' || !/^- /.test(text.slice(before.length))) return undefined;
  return { start: start + before.length, end: start + text.trimEnd().length };
}

/** Under "Initial admin password:", words of the next lines that nobody would say. An empty line may stand between. */
const MAX_SENTENCES = 8;

export function wordsBelow(text: string, end: number): Below {
  const values: Span[] = [];
  let line = lineAfter(text, end);
  if (line?.text.trim() === '') line = lineAfter(text, line.end);
  for (let count = 0; line !== undefined && count < MAX_SENTENCES; count++) {
    const word = /^\s*(?<label>[\w.@-]{1,40}:\s{1,8})?(?<word>\S+)\s*$/d.exec(line.text);
    const place = spanOf(word ?? undefined, 'word');
    const own = word?.groups?.word ?? '';
    const isAlone = word?.groups?.label === undefined;
    const isSecret = looksLikeSecret(own) || (isAlone && isMade(own));
    if (place === undefined || !isSecret) break;
    values.push({ start: line.start + place.start, end: line.start + place.end });
    line = lineAfter(text, line.end);
  }
  return { values, isOpen: line === undefined };
}

const isMade = (word: string) =>
  /^[^\s:/=]{8,}$/.test(word) && /\d/.test(word) && /[a-z]/i.test(word);

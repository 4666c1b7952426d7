import { type Below, lineAfter, lineEnd } from './below.ts';
import type { Span } from './line-rule.ts';
import type { LineStart } from './prose.ts';

/** Rows that are read; a longer table is not a listing of passwords. */
const MAX_ROWS = 200;
const MAX_LINE = 4096;
/** Of what stands before the name. */
const MAX_PREFIX = 512;
const BAR = /\||\xe2\x94\x82/g;
/** Between the header and the rows. */
const RULE = /^(?=\s*\S)[\s+|=\xe2\x80-\xbf-]*$/;
const CSV_FIELD = ' ?["\']?[\\w.-]{1,40}(?: [\\w.-]{1,40}){0,2}["\']?';
const CSV_HEADER = new RegExp(
  `^${CSV_FIELD}(?<comma>[,;\\t])${CSV_FIELD}(?:\\k<comma>${CSV_FIELD}){0,63}\\s?$`,
);

/** Reads a row: the cell of the header's column, if the row belongs to the table. */
type Column = (row: string) => Span | undefined;

/**
 * The cells of a table below a name in its header: columns of blanks as kubectl prints them (in capitals),
 * cells between bars, CSV.
 */
export function cellsBelow(text: string, name: Span, { text: before, isQuoted }: LineStart): Below {
  const none: Below = { values: [], isOpen: false };
  const column = before.length;
  const start = name.start - column;
  if (column >= MAX_PREFIX || isQuoted) return none;
  const end = lineEnd(text, name.end);
  const header = text.slice(start, end);
  const cellOfRow =
    header.length > MAX_LINE
      ? undefined
      : columnAt(header, { start: column, end: name.end - start });
  if (cellOfRow === undefined) return none;
  const values: Span[] = [];
  let line = lineAfter(text, end);
  for (let row = 0; row < MAX_ROWS && line !== undefined; row++) {
    if (!RULE.test(line.text)) {
      const cell = line.text.length > MAX_LINE ? undefined : cellOfRow(line.text);
      if (cell === undefined) return { values, isOpen: false };
      values.push({ start: line.start + cell.start, end: line.start + cell.end });
    }
    line = lineAfter(text, line.end);
  }
  return { values, isOpen: line === undefined };
}

function columnAt(header: string, { start, end }: Span): Column | undefined {
  const [before, after] = [header.slice(0, start), header.slice(end)];
  if (/(?:\||\xe2\x94\x82)\s*$/.test(before) || /^\s*(?:\||\xe2\x94\x82)/.test(after)) {
    const index = before.split(BAR).length - 1;
    const count = header.split(BAR).length - 1;
    return (row) => cellOf(row, index, count);
  }
  const comma = CSV_HEADER.exec(header)?.groups?.comma;
  if (comma !== undefined) {
    const index = before.split(comma).length - 1;
    return (row) => fieldOf(row, comma, index, header.split(comma).length);
  }
  const isHeader =
    /^[A-Z][A-Z_-]*$/.test(header.slice(start, end)) && !/[a-z]/.test(header.slice(end));
  if (!isHeader || !/(?:^|\s{2})$/.test(before) || !/^(?:\s*$|\s{2})/.test(after)) return undefined;
  if (before === '' && after.trim() === '') return onlyWord;
  if (before.trim() === '' && after.trim() === '') return undefined;
  const gap = after.search(/\S/);
  return (row) => wordAt(row, start, gap === -1 ? row.length : end + gap);
}

/** Between two bars. `index` and `count`: the bars before the cell and in the row. */
function cellOf(row: string, index: number, count: number): Span | undefined {
  const bars = [...row.matchAll(BAR)];
  if (bars.length !== count) return undefined;
  const left = bars[index - 1];
  const start = left === undefined ? 0 : left.index + left[0].length;
  return trimmed(row, start, bars[index]?.index ?? row.length);
}

/** A field of CSV, without its quotes. */
function fieldOf(row: string, comma: string, index: number, count: number): Span | undefined {
  const fields = [
    ...row.matchAll(
      new RegExp(`(?<=^|${comma})(?: ?"(?:[^"]|"")*"|[^"${comma}]*)(?=${comma}|\\s?$)`, 'g'),
    ),
  ];
  const field = fields.length === count ? fields[index] : undefined;
  if (field === undefined) return undefined;
  const { start, end } = trimmed(row, field.index, field.index + field[0].length);
  return row[start] === '"' ? { start: start + 1, end: end - 1 } : { start, end };
}

/** The words in a column of text that is aligned by blanks, up to two blanks. */
function wordAt(row: string, start: number, until: number): Span | undefined {
  if (row.trim() === '' || /\S/.test(row.charAt(start - 1))) return undefined;
  const from = start + row.slice(start, until).search(/\S|$/);
  return { start: from, end: from + row.slice(from, until).search(/\s{2}|\s?$/) };
}

/** Of a table with one column only, which a heading above sentences is not. */
function onlyWord(row: string): Span | undefined {
  const end = /^\S+(?=\s?$)/.exec(row)?.[0].length;
  return end === undefined ? undefined : { start: 0, end };
}

function trimmed(text: string, start: number, end: number): Span {
  const cell = text.slice(start, end);
  return { start: end - cell.trimStart().length, end: start + cell.trimEnd().length };
}

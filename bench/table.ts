import type { Row, Spread } from './benchmark.ts';

const HEAD = ['what', 'ours', 'theirs', 'ratio', 'runs'];
const SIGNIFICANT_DIGITS = 3;

/** The rows as a Markdown table that is readable in a terminal too, with notes below it. */
export function resultTable(rows: readonly Row[]): string {
  const notes = [...new Set(rows.flatMap(({ note }) => note ?? []))];
  const cells = rows.map((row) => {
    const mark = row.note === undefined ? '' : ` (${notes.indexOf(row.note) + 1})`;
    return [
      `${row.what}, ${row.unit}${mark}`,
      figures(row.ours),
      figures(row.theirs),
      row.ratio === null ? '-' : `${number(row.ratio)} x`,
      String(row.repetitions),
    ];
  });
  const table = alignedTable([HEAD, ...cells]);
  return [table, ...notes.map((note, at) => `(${at + 1}) ${note}`)].join('\n');
}

function alignedTable(lines: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, at) => pad(cell, widths[at] ?? 0, at > 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at > 0 ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  const [head = [], ...rest] = lines;
  return [text(head), rule, ...rest.map(text)].join('\n');
}

const pad = (cell: string, width: number, right: boolean) =>
  right ? cell.padStart(width) : cell.padEnd(width);

/** The median, and the minimum and maximum if they differ from it as printed. */
function figures({ median, min, max }: Spread): string {
  const [middle, least, greatest] = [number(median), number(min), number(max)];
  return least === greatest ? middle : `${middle} (${least} to ${greatest})`;
}

/** Three significant digits, never in exponential notation. */
export function number(value: number): string {
  if (Math.abs(value) >= 10 ** SIGNIFICANT_DIGITS) return String(Math.round(value));
  return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

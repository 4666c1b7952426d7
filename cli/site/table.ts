import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { suggest } from '../../lib/base/errors/suggest.ts';

/** A row of the table of sites. */
export interface SiteRow {
  /** In the file, from 1. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/** The column that is no value of the template. */
export const RECIPIENT = 'recipient';

/** More than a person checks, and than a folder should have. */
export const MOST_ROWS = 10_000;
/** Of some thousand rows. */
export const MOST_TABLE_BYTES = 16 << 20;
const COLUMN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The name of a folder on any system. */
const SITE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

const rowsSchema = z.array(
  z.object({ info: z.object({ lines: z.number() }), record: z.record(z.string(), z.string()) }),
);

/** Whether a value can stand in any place of a template without beginning another line. */
export const isOneLine = (value: string): boolean => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value);

/** A table in CSV, with the names of its columns in the first line; or each of its faults, in a line. */
export function readTable(
  text: string,
  placeholders: readonly string[],
): {
  readonly rows: readonly SiteRow[];
  /** Columns that are neither known nor in the template. */
  readonly unused: readonly string[];
  readonly faults: readonly string[];
} {
  if (text.trim() === '') {
    return { rows: [], unused: [], faults: ['expected a table in CSV, found an empty file'] };
  }
  let columns: readonly string[] = [];
  let rows: SiteRow[];
  try {
    const records: unknown = parse(text, {
      bom: true,
      // A line that was added on another system ends otherwise.
      record_delimiter: ['\r\n', '\n', '\r'],
      trim: true,
      skip_empty_lines: true,
      info: true,
      columns: (header: string[]) => {
        columns = header;
        return header;
      },
    });
    rows = rowsSchema
      .parse(records)
      .map(({ info, record }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { rows: [], unused: [], faults: [`expected a table in CSV, found: ${error.message}`] };
  }
  const known = ['site', RECIPIENT, ...placeholders];
  const unused = columns.filter((name) => !known.includes(name));
  const separator = /[;\t]/.exec(columns.length === 1 ? (columns[0] ?? '') : '')?.[0];
  if (separator !== undefined) {
    const found = separator === ';' ? 'semicolons' : 'tabs';
    return { rows, unused, faults: [`expected commas between the columns, found ${found}`] };
  }
  const faults = [
    ...columnFaults(columns, placeholders),
    // Without it the volumes would not be encrypted.
    ...unused
      .filter((name) => suggest(name, [RECIPIENT]) !== undefined)
      .map((name) => `column ${name}: did you mean ${RECIPIENT}?`),
    ...rowFaults(rows),
  ];
  return { rows, unused, faults };
}

function columnFaults(columns: readonly string[], placeholders: readonly string[]): string[] {
  return [
    ...[...new Set(['site', ...placeholders])]
      .filter((name) => !columns.includes(name))
      .map((name) => `expected a column ${name}, found ${columns.join(', ')}`),
    ...columns
      .filter((name) => !COLUMN.test(name))
      .map((name) => `column ${JSON.stringify(name)}: expected letters, digits and "_"`),
    ...columns
      .filter((name, at) => columns.indexOf(name) < at)
      .map((name) => `column ${name}: expected once`),
  ];
}

function rowFaults(rows: readonly SiteRow[]): string[] {
  if (rows.length === 0) return ['expected a row for each site, found none'];
  if (rows.length > MOST_ROWS) return [`expected at most ${MOST_ROWS} rows`];
  const seen = new Set<string>();
  return rows.flatMap(({ line, cells }) => {
    const { site = '' } = cells;
    const isAgain = seen.has(site.toLowerCase());
    seen.add(site.toLowerCase());
    return [
      ...(SITE.test(site)
        ? []
        : [`line ${line}: site: expected letters, digits, ".", "_" and "-"`]),
      ...(isAgain ? [`line ${line}: site: ${JSON.stringify(site)} is there twice`] : []),
      ...Object.entries(cells)
        .filter(([, cell]) => !isOneLine(cell))
        .map(([name]) => `line ${line}: ${name}: expected one line of text`),
    ];
  });
}

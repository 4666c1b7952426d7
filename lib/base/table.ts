/**
 * Rows of cells as lines of a table for a terminal: columns two spaces apart, none at the end of a line. Columns in
 * `right` are aligned to the right, as figures are.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const padded = (cell: string, column: number) => {
    const width = widths[column] ?? 0;
    return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
  };
  return rows.map((row) => row.map(padded).join('  ').trimEnd());
}

import { LEGEND, supportedTable } from '../cli/explain/versions.ts';
import { row, table } from './markdown-table.ts';

/** The table of supported versions, as Markdown. */
export function versionsReference(): string {
  const { head, rows } = supportedTable();
  return `# Supported versions

Generated from the code by \`docs/generate.ts\`; do not edit. What follows from it is in [Versions](../versions.md).

${table(head, rows.map(row))}

${LEGEND.map((line) => `- ${line}`).join('\n')}
`;
}

import { METRICS } from '../lib/engine/metrics/metrics.ts';
import { row, table } from './markdown-table.ts';

/** Each metric of a host, as Markdown. */
export function metricsReference(): string {
  const rows = Object.entries(METRICS).map(([name, { help, labels, writtenBy }]) =>
    row([
      `\`${name}\``,
      labels.map((label) => `\`${label}\``).join(', '),
      writtenBy.join(', '),
      help,
    ]),
  );
  return `# Metrics

Generated from the code by \`docs/generate.ts\`; do not edit. All are gauges, in files for the textfile collector of
node_exporter. [support.md](../support.md#metrics-and-alerts) says how they are collected, and has the alerts.

${table(['Name', 'Labels', 'Written by', 'Meaning'], rows)}
`;
}

import { rules } from '../report/rules.ts';

/** What each rule of the report looks for and how to fix it, as Markdown. */
export function findingsReference(): string {
  const sections = rules
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, looksFor, todo }) => `## ${name}\n\nLooks for ${looksFor}.\n\n${todo}\n`);
  return `# Findings

Generated from the code by \`docs/generate.ts\`; do not edit. These rules produce the findings in a log bundle's
\`report.html\`, \`report.json\` and \`SUMMARY.txt\`. For how to read a report, see
[The log bundle](../support.md#the-log-bundle).

${sections.join('\n')}`;
}

import { rules } from '../report/rules.ts';

/** What each rule of the log bundle's report looks for and what to do about it, as Markdown. */
export function findingsReference(): string {
  const sections = rules
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, looksFor, todo }) => `## ${name}\n\nLooks for ${looksFor}.\n\n${todo}\n`);
  return `# Findings

Made from the code by \`docs/generate.ts\`; do not edit. The rules by which a log bundle's \`report.html\`, \`report.json\`
and \`SUMMARY.txt\` say what is wrong. How to read them: [Finding out what went wrong](../support.md).

${sections.join('\n')}`;
}

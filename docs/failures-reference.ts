import { FAILURE_CODES } from '../lib/base/errors/codes.ts';
import { rules } from '../report/rules.ts';

/** Each failure code with its meaning and the findings that read it, as Markdown. */
export function failuresReference(): string {
  const rows = Object.entries(FAILURE_CODES).map(([code, meaning]) => {
    const readers = rules.filter(({ codes = [] }) => codes.some((one) => one === code));
    const found = readers.map(({ name }) => `[${name}](findings.md#${name})`).join(', ');
    return `| \`${code}\` | ${meaning} | ${found} |`;
  });
  return `# Failure codes

Generated from the code by \`docs/generate.ts\`; do not edit. A failure in a step journal, a status file, a service
record or a report has \`code\`, \`kind\` and \`what\`; if they apply, also \`subject\`, \`expected\`, \`found\`, \`fix\`,
\`parts\` and \`cause\`; and for a bug, \`stack\`. The kind determines the exit code: \`retry\` 1, \`usage\` 2, \`deadline\` 3, \`fatal\` and \`bug\` 4.

| Code | Meaning | Finding |
| --- | --- | --- |
${rows.join('\n')}
`;
}

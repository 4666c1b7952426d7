import type { ReportDocument, ReportFinding } from './schema.ts';

const WIDTH = 80;
const MOST_EVIDENCE = 2;

/** SUMMARY.txt. */
export const summaryText = (report: ReportDocument): string =>
  `${summary(report)}More in report.html (open it in a browser) and report.json of the bundle.\n`;

/** The report for a terminal, 80 columns wide. */
export function summary(report: ReportDocument): string {
  const { verdict, state, findings, notCollected, interrupted } = report;
  const of = (severity: ReportFinding['severity']) =>
    findings.filter((finding) => finding.severity === severity);
  const failing = of('failing').filter(({ follows }) => follows === undefined);
  const following = of('failing').filter(({ follows }) => follows !== undefined);
  const lines = [...wrap(verdict.sentence), ...wrap(state), ''];
  failing.forEach((finding, index) => {
    lines.push(...block(`${index + 1}. `, finding), '');
  });
  if (following.length > 0) {
    lines.push('Caused by that:');
    for (const { title, follows } of following) {
      lines.push(...wrap(`- ${title} (by ${follows})`, '  '));
    }
    lines.push('');
  }
  if (of('warning').length > 0) {
    lines.push('Worth a look:');
    for (const finding of of('warning')) lines.push(...block('- ', finding));
    lines.push('');
  }
  for (const { title } of of('note')) lines.push(...wrap(`Note: ${title}`, '  '));
  if (notCollected.length > 0) {
    lines.push(
      ...wrap(`Not everything could be collected (${notCollected.length}): see gather.log.`),
    );
  }
  if (interrupted)
    lines.push('The collection was interrupted: the bundle has what was collected by then.');
  return `${lines.join('\n')}\n`;
}

function block(mark: string, { title, since, evidence, todo }: ReportFinding): string[] {
  const indent = ' '.repeat(mark.length);
  const when = since === undefined ? '' : ` (since ${since.slice(0, 19).replace('T', ' ')} UTC)`;
  return [
    ...wrap(`${mark}${title}${when}`, indent),
    ...wrap(`${indent}To do: ${todo}`, `${indent}       `),
    ...evidence.slice(0, MOST_EVIDENCE).map(({ file, line }) => `${indent}See ${file}:${line}`),
  ];
}

/** Breaks at spaces; words longer than a line are split. */
function wrap(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let left = text.trimEnd();
  while (left.length > WIDTH) {
    const space = left.lastIndexOf(' ', WIDTH);
    const end = space > indent.length ? space : WIDTH;
    lines.push(left.slice(0, end).trimEnd());
    left = `${indent}${left.slice(end).trimStart()}`;
  }
  lines.push(left);
  return lines;
}

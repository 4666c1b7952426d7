import { causesOf, unexplained } from './consequences.ts';
import type { ReportDocument, ReportFinding } from './schema.ts';
import { agentRuns } from './timeline/agent-runs.ts';

const WIDTH = 80;
const MOST_EVIDENCE = 2;
/** What is not a secret of the host, or not recognised as one, is in it. */
export const NOT_ENCRYPTED = 'The bundle is not encrypted: gather --recipient encrypts it.';

/** SUMMARY.txt. */
export const summaryText = (report: ReportDocument): string =>
  `${summary(report)}More in report.html (open it in a browser) and report.json of the bundle.\n`;

/** The report for a terminal, 80 columns wide. */
export function summary(report: ReportDocument): string {
  const { verdict, state, findings, notCollected, interrupted, encrypted } = report;
  const warnings = unexplained(findings, 'warning');
  const lines = [...wrap(verdict.sentence), ...wrap(state), ''];
  causesOf(findings).forEach(({ cause, consequences }, index) => {
    lines.push(...block(`${index + 1}. `, cause));
    if (consequences.length > 0) lines.push('   Caused by this:');
    lines.push(...consequences.flatMap(({ title }) => wrap(`   - ${title}`, '     ')), '');
  });
  if (warnings.length > 0) {
    lines.push('Worth a look:');
    for (const finding of warnings) lines.push(...block('- ', finding));
    lines.push('');
  }
  lines.push(...timelineLines(report));
  for (const { title } of unexplained(findings, 'note'))
    lines.push(...wrap(`Note: ${title}`, '  '));
  if (notCollected.length > 0) {
    lines.push(
      ...wrap(`Not everything could be collected (${notCollected.length}): see gather.log.`),
    );
  }
  if (interrupted)
    lines.push('The collection was interrupted: the bundle has what was collected by then.');
  if (encrypted === false) lines.push(NOT_ENCRYPTED);
  return `${lines.join('\n')}\n`;
}

/** A line for each agent that has not ended well, and one for all others. */
function timelineLines({ timeline }: ReportDocument): string[] {
  const all = agentRuns(timeline);
  const named = (state: string) =>
    all.filter((one) => one.state === state).map(({ agent }) => agent);
  const unfinished = all
    .filter(({ state }) => state === 'failed' || state === 'open')
    .map(({ agent, steps, ahead }) => {
      const last = steps.at(-1);
      const left = ahead === undefined ? '' : `; steps still to come: ${ahead}`;
      const end = last?.end === undefined ? '' : ` at ${last.end.slice(11, 19)}`;
      return `${agent}: ${last?.step} ${last?.result}${end}${left}`;
    });
  const lines = [
    ...unfinished,
    ...[...new Set(named('ahead'))].map((agent) => `${agent}: not begun`),
    ...(named('finished').length === 0 ? [] : [`finished: ${named('finished').join(', ')}`]),
  ];
  if (lines.length === 0) return [];
  return ['Timeline:', ...lines.flatMap((line) => wrap(`- ${line}`, '  ')), ''];
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

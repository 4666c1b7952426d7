import { causesOf, unexplained } from '../consequences.ts';
import type { ReportDocument, ReportFinding } from '../schema.ts';
import { type Html, html } from './html.ts';
import { evidenceList, prose, type ShowFile, section, since } from './parts.ts';

/** Independent failures as cards, each with its consequences collapsed, then warnings and notes. */
export function findingsSection({ findings, made }: ReportDocument, show: ShowFile): Html {
  const causes = causesOf(findings);
  const nothing = html`<p class="nothing">No rule found anything failing.</p>`;
  const cards = causes.map(
    ({ cause, consequences }, index) => html`
${card(cause, index + 1, made, show)}
${group('Caused by this', consequences, made, show)}`,
  );
  const body = html`
${causes.length === 0 ? nothing : cards}
${group('Worth a look', unexplained(findings, 'warning'), made, show)}
${group('Good to know', unexplained(findings, 'note'), made, show)}`;
  return section('findings', 'Findings', findings.length, body);
}

function card(finding: ReportFinding, number: number, made: string, show: ShowFile): Html {
  const { rule, title, evidence, todo, severity } = finding;
  return html`
<article class="card ${severity}" id="cause-${number}">
<p class="meta"><span class="badge">${severity}</span> <span class="rule">${rule}</span> ${since(finding.since, made)}</p>
<h3>${number}. ${title}</h3>
<div class="todo"><h4>What to do</h4><p>${prose(todo)}</p></div>
${evidence.length === 0 ? undefined : html`<h4>Evidence</h4>${evidenceList(evidence, show)}`}
</article>`;
}

function group(
  title: string,
  findings: readonly ReportFinding[],
  made: string,
  show: ShowFile,
): Html | undefined {
  if (findings.length === 0) return undefined;
  return html`<h3 class="group">${title}</h3>${findings.map((finding) => folded(finding, made, show))}`;
}

function folded(finding: ReportFinding, made: string, show: ShowFile): Html {
  const { rule, title, evidence, todo, severity, follows } = finding;
  return html`
<details class="fold ${severity}">
<summary><span class="rule">${rule}</span> ${title}</summary>
<p class="meta">${follows === undefined ? undefined : html`<span class="since">caused by <b>${follows}</b></span>`} ${since(finding.since, made)}</p>
<p>${prose(todo)}</p>
${evidence.length === 0 ? undefined : evidenceList(evidence, show)}
</details>`;
}

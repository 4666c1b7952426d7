import type { ReportDocument, ReportFinding } from '../schema.ts';
import { type Html, html } from './html.ts';
import { evidenceList, prose, type ShowFile, section, since } from './parts.ts';

/** Failing findings as cards, their consequences collapsed below, then warnings and notes. */
export function findingsSection({ findings, made }: ReportDocument, show: ShowFile): Html {
  const failing = findings.filter(({ severity }) => severity === 'failing');
  const own = failing.filter(({ follows }) => follows === undefined);
  const following = failing.filter(({ follows }) => follows !== undefined);
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  const notes = findings.filter(({ severity }) => severity === 'note');
  const nothing = html`<p class="nothing">No rule found anything failing.</p>`;
  const body = html`
${own.length === 0 ? nothing : own.map((finding) => card(finding, made, show))}
${group('Caused by that', following, made, show)}
${group('Worth a look', warnings, made, show)}
${group('Good to know', notes, made, show)}`;
  return section('findings', 'Findings', findings.length, body);
}

function card(finding: ReportFinding, made: string, show: ShowFile): Html {
  const { rule, title, evidence, todo, severity } = finding;
  return html`
<article class="card ${severity}">
<p class="meta"><span class="badge">${severity}</span> <span class="rule">${rule}</span> ${since(finding.since, made)}</p>
<h3>${title}</h3>
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

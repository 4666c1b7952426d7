import type { ReportDocument } from '../schema.ts';
import { type Html, html } from './html.ts';
import { moment, type ShowFile, section } from './parts.ts';

export function firstErrorsSection({ firstErrors }: ReportDocument, show: ShowFile): Html {
  const rows = firstErrors.map(
    ({ unit, at, text, evidence }) => html`
<tr><th scope="row">${unit}</th><td>${moment(at)}</td><td><code>${text}</code> ${show(evidence.file, evidence.line)}</td></tr>`,
  );
  const body =
    rows.length === 0
      ? html`<p class="nothing">No unit and no container has logged an error.</p>`
      : html`<p class="hint">The first error that each unit and container logged, oldest first. Some are part of every start, such as refused connections before the API server is up.</p>
<div class="card"><table class="list">${rows}</table></div>`;
  return section('first-errors', 'First error of each unit', rows.length, body);
}

export function notCollectedSection({ notCollected, interrupted }: ReportDocument): Html {
  const rows = notCollected.map(
    ({ path, reason }) => html`<tr><th scope="row">${path}</th><td>${reason}</td></tr>`,
  );
  const cut = interrupted
    ? html`<p class="hint">The collection was interrupted: the bundle has what was collected by then.</p>`
    : undefined;
  const body =
    rows.length === 0
      ? html`${cut}<p class="nothing">Everything that this report is made of could be collected. What was left out later is in gather.log.</p>`
      : html`${cut}<div class="card"><table class="list">${rows}</table></div>`;
  return section('not-collected', 'What could not be collected', rows.length, body);
}

export function hostSection({ host }: ReportDocument, show: ShowFile): Html {
  const facts = host.map(
    ({ name, value, file }) =>
      html`<div><dt>${name}</dt><dd>${value}${file === undefined ? undefined : html` ${show(file)}`}</dd></div>`,
  );
  const body =
    facts.length === 0
      ? html`<p class="nothing">The bundle has no facts about the host.</p>`
      : html`<dl class="card facts">${facts}</dl>`;
  return section('host', 'Host', 0, body);
}

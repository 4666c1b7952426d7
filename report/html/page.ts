import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { causesOf } from '../consequences.ts';
import { plural, shorten } from '../reading/words.ts';
import type { ReportDocument, ReportFinding } from '../schema.ts';
import { NOT_ENCRYPTED } from '../summary.ts';
import { findingsSection } from './findings.ts';
import { Html, html } from './html.ts';
import { moment, type ShowFile } from './parts.ts';
import { firstErrorsSection, hostSection, notCollectedSection } from './tables.ts';
import { timelineSection } from './timeline.ts';

const STYLE = readFileSync(new URL('./style.css', import.meta.url), 'utf8');

/** Most characters of a cause in the box at the top; its card has all of them. */
const SHOWN = 160;

/** Nothing is loaded or executed: only this style sheet is allowed, by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** `report.html`: self-contained, without other files, network access or JavaScript. */
export function reportPage(report: ReportDocument, show: ShowFile): string {
  const host = report.host.find(({ name }) => name === 'Host')?.value;
  return document(
    report.verdict.sentence.slice(0, 80),
    html`<header>
<p class="kicker">Log bundle${host === undefined ? undefined : html` of <b>${host}</b>`}, made ${moment(report.made)}</p>
${verdict(report)}
<nav>
<a href="#findings">Findings</a><a href="#timeline">Timeline</a><a href="#first-errors">First errors</a><a href="#not-collected">Not collected</a><a href="#host">Host</a>
</nav>
</header>
<main>
${findingsSection(report, show)}
${timelineSection(report)}
${firstErrorsSection(report, show)}
${notCollectedSection(report)}
${hostSection(report, show)}
</main>
<footer>${report.encrypted === false ? html`${NOT_ENCRYPTED} ` : undefined}For programs: ${show('report.json')}. What was collected: ${show('gather.log')}. All times are UTC.</footer>`,
  );
}

/** A page of this style. */
export const document = (title: string, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${Html.trusted(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.toString();

function verdict({
  verdict: { sentence, failing, following, warnings },
  state,
  findings,
}: ReportDocument): Html {
  const mood = failing > 0 ? 'failing' : warnings > 0 ? 'warning' : 'good';
  const counts = [
    [failing, 'failing', plural(failing, 'cause')],
    [following, 'following', plural(following, 'consequence')],
    [warnings, 'warning', plural(warnings, 'warning')],
  ] as const;
  return html`
<div class="verdict ${mood}">
<svg class="sign" viewBox="0 0 24 24" width="40" height="40" aria-hidden="true"><circle cx="12" cy="12" r="11"/>${
    mood === 'good' ? html`<path d="M7 12.5l3.2 3.2L17 9"/>` : html`<path d="M12 6.5v7M12 17v.2"/>`
  }</svg>
<div>
${headline(sentence, findings)}
<p>${state}</p>
${
  findings.length === 0
    ? undefined
    : html`<p class="chips">${counts
        .filter(([count]) => count > 0)
        .map(([, kind, text]) => html`<span class="chip ${kind}">${text}</span>`)}</p>`
}
</div>
</div>`;
}

/** All causes in words, each a link to its card. */
function headline(sentence: string, findings: readonly ReportFinding[]): Html {
  const causes = causesOf(findings);
  if (causes.length === 0) return html`<h1>${sentence}</h1>`;
  const items = causes.map(
    ({ cause }, index) =>
      html`<li><a href="#cause-${index + 1}">${shorten(cause.title, SHOWN)}</a></li>`,
  );
  return html`<h1>${plural(causes.length, 'thing is', 'things are')} failing</h1><ol class="causes">${items}</ol>`;
}

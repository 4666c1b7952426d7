import { duration, time } from '../reading/words.ts';
import type { ReportFinding } from '../schema.ts';
import { type Html, html } from './html.ts';

type Evidence = ReportFinding['evidence'][number];

/** Beside report.html; no path can be more than a path, since all that is special is encoded. */
const href = (file: string): string => `./${file.split('/').map(encodeURIComponent).join('/')}`;

export const fileLink = (file: string, line?: number): Html =>
  html`<a class="file" href="${href(file)}">${file}${line === undefined ? undefined : html`<b>:${line}</b>`}</a>`;

/** Longer commands may break where the line ends. */
const SHORT_COMMAND = 36;

/** A sentence in which what stands in quotes, mostly commands, is set as code. */
export const prose = (text: string): Html =>
  html`${text.split(/"([^"]+)"/).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return html`<code${part.length <= SHORT_COMMAND ? html` class="short"` : undefined}>${part}</code>`;
  })}`;

export const evidenceItem = ({ file, line, text }: Evidence): Html =>
  html`<li>${fileLink(file, line)}${text === '' ? undefined : html`<code>${text}</code>`}</li>`;

/** `2026-11-21 14:58:45 UTC`, for programs too. */
export const moment = (iso: string): Html =>
  html`<time datetime="${iso}">${time(Date.parse(iso))}</time>`;

/** The time of day alone, where the day is clear. */
export const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

export const since = (iso: string | undefined, made: string): Html | undefined =>
  iso === undefined
    ? undefined
    : html`<span class="since">since ${moment(iso)}, for ${duration(Date.parse(made) - Date.parse(iso))}</span>`;

export const section = (id: string, title: string, count: number, body: Html): Html => html`
<section id="${id}">
<h2>${title}${count > 0 ? html` <span class="count">${count}</span>` : undefined}</h2>
${body}
</section>`;

import { duration, time } from '../reading/words.ts';
import type { ReportFinding } from '../schema.ts';
import { type Html, html } from './html.ts';

type Evidence = ReportFinding['evidence'][number];

/** Renders a reference to a file of the bundle. */
export type ShowFile = (file: string, line?: number) => Html;

/** As links to files of a folder; `folder` is its path relative to the page. */
export const linksTo =
  (folder: string): ShowFile =>
  (file, line) =>
    html`<a class="file" href="${href(folder)}/${href(file)}">${place(file, line)}</a>`;

/** Encodes all special characters, so that the result is only ever a path. */
const href = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** For a page inside the bundle. */
export const IN_BUNDLE = linksTo('.');

/** For a page without access to the files. */
export const NO_LINKS: ShowFile = (file, line) =>
  html`<span class="file">${place(file, line)}</span>`;

const place = (file: string, line?: number): Html =>
  html`${file}${line === undefined ? undefined : html`<b>:${line}</b>`}`;

/** Longer commands may wrap. */
const SHORT_COMMAND = 36;

/** A sentence whose quoted parts, mostly commands, are formatted as code. */
export const prose = (text: string): Html =>
  html`${text.split(/"([^"]+)"/).map((part, index) => {
    if (index % 2 === 0) return html`${part}`;
    return html`<code${part.length <= SHORT_COMMAND ? html` class="short"` : undefined}>${part}</code>`;
  })}`;

/** Each with its place and, for a log, the lines around it. */
export const evidenceList = (evidence: readonly Evidence[], show: ShowFile): Html => {
  const items = evidence.map(
    ({ file, line, text, before = [], after = [] }) =>
      html`<li>${show(file, line)}${text === '' ? undefined : html`<code>${near(before)}<mark>${text}</mark>${near(after)}</code>`}</li>`,
  );
  return html`<ul class="evidence">${items}</ul>`;
};

const near = (lines: readonly string[]): Html[] => lines.map((line) => html`<span>${line}</span>`);

/** `2026-11-21 14:58:45 UTC`, also machine-readable. */
export const moment = (iso: string): Html =>
  html`<time datetime="${iso}">${time(Date.parse(iso))}</time>`;

/** Time of day only, where the date is clear. */
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

import { type Html, html } from '../../report/html/html.ts';
import { document } from '../../report/html/page.ts';
import { moment, prose, section } from '../../report/html/parts.ts';
import { duration, plural, shorten, some } from '../../report/reading/words.ts';
import { NEEDS_SOMEBODY, SITE_STATE_NAMES, type SiteRowState } from './site-state.ts';
import { type FleetStatus, meaningOf, presentStates, SILENT_FIX } from './summary.ts';

/** Names in a row of failures; the table of sites has all. */
const MOST_NAMED = 20;
/** Rows of sites that need somebody. A page with more helps nobody; --json has all. */
const MOST_ROWS = 5000;

/** The state of a fleet as one page: without other files, network access or JavaScript. Everything in it is escaped. */
export function fleetPage(status: FleetStatus, rows: readonly SiteRowState[]): string {
  const { sites, namespace, selector, at } = status;
  return document(
    `${plural(sites, 'site')} in ${namespace}`,
    html`<header>
<p class="kicker">Sites of <b>${namespace}</b>${selector === undefined ? undefined : html` with <b>${selector}</b>`}, read ${moment(at)}</p>
${verdict(status)}
<nav>
<a href="#states">States</a><a href="#failures">Failures</a><a href="#sites">Sites</a><a href="#progress">Progress</a>
</nav>
</header>
<main>
${statesSection(status)}
${failuresSection(status)}
${sitesSection(rows)}
${progressSection(status)}
</main>
<footer>For programs: "sno fleet status --json". All times are UTC.</footer>`,
  );
}

function verdict(status: FleetStatus): Html {
  const { states, sites } = status;
  const needing = NEEDS_SOMEBODY.reduce((sum, state) => sum + states[state], 0);
  const mood = needing > 0 ? 'failing' : 'good';
  const sentence =
    needing > 0
      ? `${plural(needing, 'site needs', 'sites need')} somebody`
      : states.completed + states.idle === sites
        ? 'All sites are done'
        : 'No site needs anybody';
  return html`<div class="verdict ${mood}"><div><h1>${sentence}</h1>
<p>${states.completed} of ${plural(sites, 'site')} completed.</p></div></div>`;
}

function statesSection(status: FleetStatus): Html {
  const rows = presentStates(status).map(
    ({ state, count, meaning }) =>
      html`<tr><th scope="row">${state}</th><td>${count}</td><td>${meaning}</td></tr>`,
  );
  return section(
    'states',
    'Sites by state',
    0,
    html`<div class="card"><table class="list">${rows}</table></div>`,
  );
}

function failuresSection({ failures, silent }: FleetStatus): Html {
  const rows = failures.map(
    ({ code, state, sites, what, fix }) => html`
<tr><th scope="row">${code}</th><td><p>${plural(sites.length, 'site')} ${state}: ${some(sites, MOST_NAMED)}</p>
<p class="hint">${meaningOf(code)}</p>${what === undefined ? undefined : html`<p>${what}</p>`}${fix === undefined ? undefined : html`<p><b>Do:</b> ${prose(fix)}</p>`}</td></tr>`,
  );
  if (silent.length > 0) {
    const names = silent.map(({ site }) => site);
    rows.push(html`
<tr><th scope="row">silent</th><td><p>${plural(silent.length, 'site')}: ${some(names, MOST_NAMED)}</p><p><b>Do:</b> ${SILENT_FIX}</p></td></tr>`);
  }
  const body =
    rows.length === 0
      ? html`<p class="nothing">No site has failed, and none is silent.</p>`
      : html`<div class="card"><table class="list">${rows}</table></div>`;
  return section('failures', 'What to do', rows.length, body);
}

function sitesSection(rows: readonly SiteRowState[]): Html {
  const order = (row: SiteRowState) => SITE_STATE_NAMES.indexOf(row.state);
  const needing = rows
    .filter(({ state }) => NEEDS_SOMEBODY.includes(state))
    .toSorted((a, b) => order(a) - order(b) || (a.name < b.name ? -1 : 1));
  const left = needing.length - MOST_ROWS;
  const body =
    needing.length === 0
      ? html`<p class="nothing">No site needs anybody.</p>`
      : html`<div class="card"><table class="list">${needing.slice(0, MOST_ROWS).map(siteRow)}</table></div>${left > 0 ? html`<p class="hint">And ${left} more.</p>` : undefined}`;
  return section('sites', 'Sites that need somebody', needing.length, body);
}

const LONGEST_WHAT = 300;

function siteRow({ name, state, code, what, step, heardAt, deliveredAt }: SiteRowState): Html {
  const last = heardAt ?? deliveredAt;
  return html`
<tr><th scope="row">${name}</th><td>${state}${code === undefined ? undefined : html` <code class="short">${code}</code>`}${step === undefined ? undefined : html`, step ${step}`}</td><td>${what === undefined ? undefined : shorten(what, LONGEST_WHAT)}</td><td>${
    last === undefined
      ? undefined
      : html`${heardAt === undefined ? 'delivered' : 'heard'} ${moment(last.toISOString())}`
  }</td></tr>`;
}

function progressSection({ running, times }: FleetStatus): Html {
  const rows = running.map(
    ({ step, sites }) =>
      html`<tr><th scope="row">${step}</th><td>${plural(sites, 'site')}</td></tr>`,
  );
  const body = html`${
    rows.length === 0
      ? html`<p class="nothing">No node works on it now.</p>`
      : html`<div class="card"><table class="list">${rows}</table></div>`
  }${
    times === undefined
      ? undefined
      : html`<p class="hint">From delivery to done, of ${plural(times.sites, 'site')}: half within ${duration(times.medianSeconds * 1000)}, nine of ten within ${duration(times.slowestTenthSeconds * 1000)}.</p>`
  }`;
  return section('progress', 'Progress', 0, body);
}

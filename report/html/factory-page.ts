import type { FactoryReport } from '../../lib/relocation/relocatable/report.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import { document } from './page.ts';
import { moment } from './parts.ts';

const WORDS: Readonly<Record<FactoryReport['checks'][number]['name'], string>> = {
  settled: 'Nothing moves',
  services: 'Services and DNS answer',
  conformance: 'The cluster does what it is asked',
  images: 'All images are on the host',
  'internal-address': 'The internal address is used everywhere',
  arrival: 'It can be given a site',
  certificates: 'No certificate expires on the way',
  clock: 'The clock is right',
};

/** `report.html` of the factory: self-contained, without other files, network access or JavaScript. */
export function factoryPage(report: FactoryReport): string {
  const { passed, host, shelfLife, checks } = report;
  const sentence = passed ? 'PASS: the node can be shipped' : 'FAIL: the node cannot be shipped';
  const rows: readonly (readonly [string, string])[] = [
    ['Node', host.nodeName],
    ['Internal address', host.internalAddresses.join(', ')],
    ['Machine', host.identifiers.join(', ')],
    ['Recipient of age', host.recipient ?? 'none'],
    ['Kubernetes', report.kubernetes],
    ...(report.openshift === undefined ? [] : [['OpenShift', report.openshift] as const]),
    ['sno-agents', report.version],
    ['Days under way', `${report.shippingDays}`],
    [
      'Shelf life',
      shelfLife === undefined ? 'unlimited' : `until ${shelfLife.until} (${shelfLife.name})`,
    ],
  ];
  return document(
    sentence,
    html`<header>
<p class="kicker">Factory report of <b>${host.nodeName}</b>, made ${moment(report.at)}</p>
<div class="verdict ${passed ? 'good' : 'failing'}"><div><h1>${sentence}</h1></div></div>
</header>
<main>
<section id="checks"><h2>Checks</h2>
<table><tbody>${checks.map(checkRow)}</tbody></table></section>
<section id="host"><h2>Host</h2>
<table><tbody>${rows.map(([name, value]) => html`<tr><th>${name}</th><td>${value}</td></tr>`)}</tbody></table></section>
</main>
<footer>For programs: report.json, with its signature by the host in report.json.sig. All times are UTC.</footer>`,
  );
}

const checkRow = ({ name, faults, notes }: FactoryReport['checks'][number]): Html =>
  html`<tr><th>${WORDS[name]}</th><td>${faults.length === 0 ? 'PASS' : 'FAIL'}${[
    ...faults,
    ...notes,
  ].map((line) => html`<br>${line}`)}</td></tr>`;

/** What a Site is at, and what is said of a fleet, for a terminal and as a page. */
import t from 'tap';
import { seenSite } from '../../../../cli/fleet/read-sites.ts';
import { fleetPage } from '../../../../cli/fleet/report-page.ts';
import type { SiteSpec } from '../../../../cli/fleet/site.ts';
import { SITE_STATE_NAMES, SITE_STATES, stateOf } from '../../../../cli/fleet/site-state.ts';
import { statusLines } from '../../../../cli/fleet/status.ts';
import { fleetStatus, fleetStatusSchema } from '../../../../cli/fleet/summary.ts';
import { API_VERSION, type SiteStatus } from '../../../../lib/engine/report/site-status.ts';
import { sno } from '../run-sno.ts';

const now = new Date('2030-01-02T12:00:00Z');
const EARLY = '2030-01-02T10:00:00Z';
const LATE = '2030-01-02T11:50:00Z';
const SILENT_MS = 30 * 60_000;

type Conditions = NonNullable<SiteStatus['conditions']>;
type Changes = NonNullable<SiteStatus['report']>['changes'];

const is = (
  type: Conditions[number]['type'],
  { status = 'True', reason = 'x', at = EARLY }: Partial<Conditions[number] & { at: string }> = {},
): Conditions[number] => ({ type, status, reason, message: `of ${type}`, lastTransitionTime: at });

interface Given {
  readonly name?: string;
  readonly spec?: Partial<SiteSpec>;
  readonly conditions?: readonly Conditions[number][];
  readonly changes?: readonly Changes[number][];
  readonly volume?: number;
  /** By which serial the node was installed. */
  readonly installed?: number;
  /** When the node has written last. */
  readonly heard?: string;
}

function seen({ name = 'a', spec, conditions, changes, volume, heard, installed }: Given) {
  const of = installed === undefined ? {} : { serial: installed };
  const report = { sequence: 1, at: '1999-01-01T00:00:00Z', node: 'n', version: '1', ...of };
  return seenSite({
    apiVersion: API_VERSION,
    kind: 'Site',
    metadata: {
      name,
      namespace: 'x',
      managedFields: [
        { manager: 'kubectl', time: now.toISOString() },
        { manager: 'somebody' },
        ...(heard === undefined ? [] : [{ manager: 'sno-node', time: heard }]),
      ],
    },
    spec: { action: 'relocate', serial: 1, ...spec },
    status: {
      ...(conditions === undefined ? {} : { conditions }),
      ...(changes === undefined ? {} : { report: { ...report, changes } }),
      ...(volume === undefined
        ? {}
        : { volume: { sha256: 'a', serial: volume, publishedAt: EARLY } }),
    },
  });
}

const change = (more: Partial<Changes[number]> = {}): Changes[number] => ({
  change: 'relocate',
  state: 'running',
  at: EARLY,
  serial: 1,
  ...more,
});
const state = (given: Given) => stateOf(seen(given), now, SILENT_MS);
const made = [is('Rendered'), is('Delivered', { at: LATE })];
const old = [is('Rendered'), is('Delivered')];

t.test('from its wave to its end', async (t) => {
  const running = [change({ step: '4/14 network' })];
  for (const [expected, given] of [
    ['idle', { spec: { action: 'none' }, conditions: [is('Failed')] }],
    ['waiting', {}],
    ['waiting', { conditions: [is('Delivered', { status: 'False', reason: 'NewSerial' })] }],
    ['rendered', { conditions: [is('Rendered')], volume: 1 }],
    ['undelivered', { conditions: [is('Rendered', { status: 'False' })] }],
    ['undelivered', { conditions: [is('Rendered'), is('Delivered', { status: 'False' })] }],
    ['delivered', { conditions: made, volume: 1 }],
    ['silent', { conditions: old, volume: 1 }],
    ['running', { conditions: old, changes: running, heard: LATE }],
    ['running', { conditions: [...made, is('Started')], heard: LATE }],
    ['silent', { conditions: old, changes: running, heard: EARLY }],
    ['completed', { conditions: [...old, is('Completed')], heard: EARLY }],
    ['failed', { conditions: [...old, is('Failed')], heard: EARLY }],
    ['running', { conditions: [...made, is('Failed')], changes: running, heard: LATE }],
    ['completed', { conditions: old, changes: [change({ state: 'done' })], heard: LATE }],
    ['failed', { conditions: old, changes: [change({ state: 'refused' })], heard: LATE }],
    ['failed', { conditions: old, changes: [change({ state: 'takenBack' })], heard: LATE }],
  ] as const) {
    t.equal(state(given).state, expected, JSON.stringify(given));
  }
});

t.test('what was said of an earlier serial is not said of this one', async (t) => {
  const ended = {
    conditions: [...made, is('Completed'), is('Failed')],
    changes: [change({ state: 'failed' })],
  };
  t.equal(state({ ...ended, spec: { serial: 2 }, volume: 2 }).state, 'delivered');
  t.equal(state({ ...ended, spec: { serial: 2 }, volume: 1 }).state, 'waiting', 'nor delivered');
  t.equal(state({ ...ended, volume: 1 }).state, 'failed');
  const { serial: _none, ...refused } = change({ state: 'refused' });
  const without = { conditions: made, changes: [refused], volume: 1 };
  t.equal(state({ ...without, heard: LATE }).state, 'failed', 'heard since the volume');
  t.equal(state({ ...without, heard: '2030-01-02T09:00:00Z' }).state, 'delivered', 'and before');
});

t.test('a run of an installation or an update is known by the serial of the Site', async (t) => {
  const { serial: _none, ...done } = change({ change: 'install', state: 'done' });
  const install = { spec: { action: 'install', serial: 2 }, conditions: made, volume: 2 } as const;
  const heard = { changes: [done], heard: LATE };
  t.equal(state({ ...install, ...heard, installed: 2 }).state, 'completed');
  t.equal(state({ ...install, ...heard, installed: 1 }).state, 'delivered', 'of the last one');
  const update = { spec: { action: 'update', serial: 2 }, conditions: made, volume: 2 } as const;
  const updated = (more: object) =>
    state({
      ...update,
      changes: [change({ change: 'update', state: 'done', ...more })],
      heard: LATE,
    });
  t.equal(updated({ serial: 170, asked: 2 }).state, 'completed');
  t.equal(updated({ serial: 170, asked: 1 }).state, 'delivered');
  t.equal(updated({ serial: 170 }).state, 'delivered', 'what a person has asked for');
});

t.test('without a serial, that of what was delivered counts', async (t) => {
  const spec = { serial: undefined };
  t.equal(state({ spec, conditions: made, volume: 7 }).state, 'delivered');
  const done = [change({ state: 'done', serial: 7 })];
  t.equal(
    state({ spec, conditions: made, changes: done, volume: 7, heard: LATE }).state,
    'completed',
  );
  const before = [change({ state: 'done', serial: 6 })];
  t.equal(
    state({ spec, conditions: made, changes: before, volume: 7, heard: LATE }).state,
    'delivered',
  );
  t.equal(state({ spec }).state, 'waiting');
});

t.test('the words of the node, and the step where it fell silent', async (t) => {
  const said = { code: 'site-link', what: 'no link on eno1', fix: 'Check the cable' };
  const failed = [...made, is('Failed', { reason: 'other' })];
  const states = [change({ change: 'backup', code: 'no' }), change({ state: 'failed', ...said })];
  t.match(state({ conditions: failed, changes: states }), said);
  t.match(state({ conditions: failed }), { code: 'other', what: 'of Failed', fix: undefined });
  const silent = { conditions: old, changes: [change({ step: '4/14 network' })], heard: EARLY };
  t.match(state(silent), { state: 'silent', step: '4/14 network' });
});

t.test('a Site of another version hides no others', async (t) => {
  const odd = seenSite({ metadata: { name: 'odd' }, spec: { action: 'paint' } });
  t.same(stateOf(odd, now, SILENT_MS), { name: 'odd', state: 'unknown', action: '' });
  t.equal(stateOf(seenSite({}), now, SILENT_MS).state, 'unknown');
});

const HOSTILE = `<script>alert("x")</script>' & \u001b[31m\nline`;
const failing = (name: string, code: string, what = 'w') =>
  seen({
    name,
    conditions: [...old, is('Failed')],
    changes: [change({ state: 'failed', code, what, fix: 'Run "sno x".' })],
    heard: LATE,
  });

const fleet = [
  failing('b', 'site-check'),
  failing('c', 'site-link'),
  failing(HOSTILE, 'site-link', HOSTILE),
  seen({ name: 'd', conditions: old, volume: 1 }),
  seen({ name: 'e', conditions: [...old, is('Completed')], heard: LATE }),
  seen({ name: 'f', conditions: made, changes: [change({ step: '10/14 z' })], heard: LATE }),
  seen({ name: 'g', conditions: made, changes: [change({ step: '4/14 y' })], heard: LATE }),
];
const rows = fleet.map((site) => stateOf(site, now, SILENT_MS));
const status = fleetStatus(rows, { now, namespace: 'shops', selector: 'wave=1' });

t.test('a fleet: states, failures by code, the silent, the steps, the time', async (t) => {
  t.same(fleetStatusSchema.strict().parse(status), status);
  t.match(status, {
    sites: 7,
    states: { failed: 3, silent: 1, completed: 1, running: 2, waiting: 0 },
    failures: [
      { code: 'site-link', sites: ['c', HOSTILE], what: 'w', fix: 'Run "sno x".' },
      { code: 'site-check', sites: ['b'] },
    ],
    silent: [{ site: 'd', deliveredAt: '2030-01-02T10:00:00.000Z', heardAt: undefined }],
    running: [
      { step: '4/14 y', sites: 1 },
      { step: '10/14 z', sites: 1 },
    ],
    times: { sites: 1, medianSeconds: 6600, slowestTenthSeconds: 6600 },
  });
  t.same(Object.keys(SITE_STATES), SITE_STATE_NAMES);
});

t.test('for a terminal, each fix once', async (t) => {
  const lines = statusLines(status);
  t.equal(lines[0], '7 Sites in the namespace shops with wave=1');
  t.match(lines[2], /^FAILED +3 +the node says that it failed$/);
  t.equal(lines.filter((line) => line === '  Fix: Run "sno x".').length, 2, 'one for each code');
  t.match(lines.join('\n'), /^Silent: 1 site: d \(never heard of, 2 h\)$/m);
  t.match(lines.join('\n'), /half within 1 h 50 min/);
  const none = fleetStatus([], { now, namespace: 'shops', selector: undefined });
  t.same(statusLines(none), ['No Sites in the namespace shops']);
});

t.test('the page says the same, and nothing of others is markup', async (t) => {
  const page = fleetPage(status, rows);
  t.match(page, /<h1>4 sites need somebody<\/h1>/);
  t.match(page, /default-src &#39;none&#39;/);
  t.notMatch(page, /<script|<iframe|<img|\son\w+=|href="(?!#|data:)/i, 'no script, no resource');
  t.match(page, '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  t.ok(page.indexOf('>site-link<') < page.indexOf('>site-check<'), 'the most frequent first');
  const open = Array.from(page.matchAll(/<(table|tr|td|section|div|main|p)\b/g)).length;
  const closed = Array.from(page.matchAll(/<\/(table|tr|td|section|div|main|p)>/g)).length;
  t.equal(open, closed, 'all that is opened is closed');
});

t.test('ten thousand sites are one page', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, at) => {
    const name = `shop-${at}`;
    return at % 2 === 0 ? failing(name, `code-${at % 7}`, 'x'.repeat(500)) : seen({ name });
  }).map((site) => stateOf(site, now, SILENT_MS));
  const all = fleetStatus(many, { now, namespace: 'shops', selector: undefined });
  const page = fleetPage(all, many);
  t.ok(page.length < 4_000_000, `${page.length} bytes`);
  t.ok(page.includes('>shop-0<'), 'a site that needs somebody has a row');
  t.notOk(page.includes('>shop-1<'), 'others are counted');
});

t.test('without a hub, the command says what it looked for', async (t) => {
  const home = t.testdir();
  for (const [environment, says] of [
    [{ HOME: home }, /no kubeconfig of the hub is known.*KUBECONFIG/],
    [{ HOME: home, KUBECONFIG: 'a:b' }, /KUBECONFIG names several files/],
    [{ HOME: home, KUBECONFIG: `${home}/none` }, /The kubeconfig .*none cannot be read/],
  ] as const) {
    const { code, err } = await sno(['fleet', 'status'], environment);
    t.equal(code, 2);
    t.match(err, says);
  }
  const { code, err } = await sno(['fleet', 'status', '--silent-after', 'soon'], { HOME: home });
  t.equal(code, 2);
  t.match(err, /--silent-after is not a duration/);
});

import t from 'tap';
import {
  type NodeReport,
  REPORTED_CHANGES,
  type ReportedState,
} from '../../../../lib/engine/report/node-report.ts';
import { STATUS_LIMITS, siteStatusSchema } from '../../../../lib/engine/report/site-status.ts';
import { siteStatusOf } from '../../../../lib/engine/report/site-status-of.ts';

const AT = '2030-01-01T12:00:00.000Z';
const LATER = '2030-01-01T13:00:00.000Z';
const reportOf = (changes: ReportedState[], at = AT): NodeReport => ({
  ...{ schemaVersion: 1, sequence: 7, at, node: 'edge-0', machine: ['cz1'], version: '1.2.3' },
  changes,
});
const statusOf = (changes: ReportedState[]) => siteStatusOf(reportOf(changes), []);
const said = (changes: ReportedState[]) =>
  statusOf(changes).conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

t.test('each state of a change is told by the three conditions of the node', async (t) => {
  const failed = { code: 'site-link', what: 'eno1 has no link', fix: 'Check the cable.' };
  const relocate = (state: ReportedState['state'], more: Partial<ReportedState> = {}) =>
    said([{ change: 'relocate', state, at: AT, serial: 3, ...more }]);
  t.strictSame(relocate('running'), [
    'Started True relocate',
    'Completed False InProgress',
    'Failed False InProgress',
  ]);
  t.strictSame(relocate('done'), [
    'Started True relocate',
    'Completed True Completed',
    'Failed False Completed',
  ]);
  for (const state of ['failed', 'refused', 'takenBack'] as const) {
    t.strictSame(
      relocate(state, failed),
      ['Started True relocate', 'Completed False site-link', 'Failed True site-link'],
      state,
    );
  }
  t.strictSame(
    relocate('running', failed),
    ['Started True relocate', 'Completed False site-link', 'Failed False InProgress'],
    'it is tried again',
  );
});

t.test('a failure says what to do, and what became of the node', async (t) => {
  const failed = { code: 'site-link', what: 'eno1 has no link', fix: 'Check the cable.' };
  const message = (state: ReportedState['state']) =>
    statusOf([{ change: 'relocate', state, at: AT, ...failed }]).conditions[2]?.message;
  t.equal(message('takenBack'), 'eno1 has no link. Check the cable. The node is as it was before.');
  t.equal(message('refused'), 'eno1 has no link. Check the cable. Nothing was changed.');
  t.equal(message('failed'), 'eno1 has no link. Check the cable.');
});

t.test('a node is moved once it is installed; what it does later takes nothing back', async (t) => {
  const install: ReportedState = { change: 'install', state: 'done', at: LATER };
  const failed: ReportedState = { change: 'relocate', state: 'takenBack', at: AT, code: 'x' };
  const update: ReportedState = { change: 'update', state: 'refused', at: LATER, code: 'y' };
  t.match(said([install]), ['Started True install', /True Completed/, /False Completed/]);
  t.match(said([install, failed, update]), ['Started True relocate', /False x/, /True x/]);
  const done: ReportedState = { change: 'relocate', state: 'done', at: AT };
  t.match(said([done, update]), ['Started True relocate', /True Completed/, /False Completed/]);
  t.strictSame(statusOf([update]).conditions, []);
});

t.test('an update that the Site asks for is told like a relocation', async (t) => {
  const moved: ReportedState = { change: 'relocate', state: 'done', at: AT, serial: 3 };
  const update: ReportedState = { change: 'update', state: 'takenBack', at: LATER, code: 'y' };
  const refused = ['Started True update', 'Completed False y', 'Failed True y'];
  t.strictSame(said([moved, { ...update, asked: 4 }]), refused);
  t.match(said([moved, { ...update, asked: 2 }]), ['Started True relocate', /True/, /False/]);
});

t.test('of a Site that wants something newer, it is told that this has not begun', async (t) => {
  const told = (changes: ReportedState[], known: Parameters<typeof siteStatusOf>[2]) =>
    siteStatusOf(reportOf(changes), [], known);
  const moved: ReportedState = { change: 'relocate', state: 'done', at: AT, serial: 3 };
  t.match(told([moved], { wanted: 3 }).conditions, DONE);
  const stale = told([moved], { wanted: 4 });
  t.match(stale.conditions, NOT_BEGUN);
  t.match(stale.report.changes, [{ change: 'relocate', serial: 3 }], 'it is still reported');
  const installed: ReportedState = { change: 'install', state: 'done', at: AT };
  t.match(told([installed], { wanted: 4, installed: 4 }).conditions, DONE);
  t.match(told([installed], { wanted: 4, installed: 3 }).conditions, NOT_BEGUN);
  t.match(told([installed], { wanted: 4 }).conditions, DONE, 'one of whom nobody knows it');
});
const DONE = [{ status: 'True' }, { type: 'Completed', status: 'True' }, { status: 'False' }];
const NOT_BEGUN = ['Started', 'Completed', 'Failed'].map((type) => ({
  ...{ type, status: 'False', reason: 'NotReported' },
}));

t.test('a condition keeps its time for as long as its status stays', async (t) => {
  const running: ReportedState = { change: 'relocate', state: 'running', at: AT };
  const first = siteStatusOf(reportOf([running]), []);
  const times = (conditions: readonly { readonly lastTransitionTime: string }[]) =>
    conditions.map(({ lastTransitionTime }) => lastTransitionTime);
  t.strictSame(times(first.conditions), [AT, AT, AT]);
  const done: ReportedState = { change: 'relocate', state: 'done', at: LATER };
  const second = siteStatusOf(reportOf([done], LATER), first.conditions);
  t.strictSame(times(second.conditions), [AT, LATER, AT]);
  const third = siteStatusOf(reportOf([done], '2030-01-02T00:00:00.000Z'), second.conditions);
  t.strictSame(times(third.conditions), [AT, LATER, AT]);
});

t.test('the report is one that the schema of a Site has', async (t) => {
  const step = { agent: 'reconfigure', name: 'network', number: 4, of: 14, since: AT };
  const status = statusOf([{ change: 'relocate', state: 'running', at: AT, serial: 3, step }]);
  t.strictSame(siteStatusSchema.parse(status), status);
  t.strictSame(status.report.changes, [
    { change: 'relocate', state: 'running', at: AT, serial: 3, step: '4/14 network' },
  ]);
  t.notOk('machine' in status.report);
  t.equal(status.report.sequence, 7);
});

t.test(
  'the longest texts are cut to what the API server takes, the newest change least',
  async (t) => {
    const long = 'x'.repeat(5000);
    const changes = REPORTED_CHANGES.map(
      (change, at): ReportedState => ({
        ...{ change, state: 'failed', at: `2030-01-0${at + 1}T00:00:00.000Z` },
        ...{ code: long, what: long, fix: long },
      }),
    );
    const status = siteStatusOf({ ...reportOf(changes), node: long, version: long }, []);
    t.strictSame(siteStatusSchema.parse(status), status);
    const texts = [
      ...status.conditions.map(({ message }) => message),
      ...status.report.changes.flatMap(({ what = '', fix = '' }) => [what, fix]),
    ].join('');
    t.ok(texts.length <= STATUS_LIMITS.texts, `${texts.length}`);
    const [relocate, install] = ['relocate', 'install'].map((name) =>
      status.report.changes.find(({ change }) => change === name),
    );
    t.equal(relocate?.what?.length, 800);
    t.equal(install?.what?.length, 200);
  },
);

import t from 'tap';
import {
  isApiReady,
  readinessReason,
  waitForApi,
  whyNotReady,
} from '../../../../lib/clients/kube/api-ready.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal, startFakeApi } from './fake-api.ts';
import { stopClock } from './stopped-clock.ts';

const UNREADY = { code: 500, body: '[+]ping ok\n[-]etcd failed: reason withheld\n' };
const { signal } = new AbortController();

t.test('readiness is status 200 and nothing else', async (t) => {
  t.equal(readinessReason({ code: 200, body: 'ok' }), undefined);
  t.equal(
    readinessReason({
      code: 500,
      body: '[+]ping ok\n[-]etcd failed: reason withheld\n  [-]not at the start of a line\n[-]rbac failed\n',
    }),
    'API server checks failing: etcd, rbac',
  );
  for (const code of [201, 204, 301, 401, 403, 404, 500, 503]) {
    t.equal(readinessReason({ code, body: '' }), `/readyz returned ${code}`);
  }
});

t.test('a wait ends when the API is ready, and reports each new reason once', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  const replies = [UNREADY, UNREADY, refusal(503, {}), { code: 200, body: 'ok' }];
  api.rule(() => replies.shift());
  const reports: string[] = [];
  const waiting = waitForApi(client, {
    signal,
    deadlineMs: 60_000,
    report: (reason) => reports.push(reason),
  });
  for (const _ of [1, 2, 3]) t.equal(await clock.wake(), 500, 'asked twice a second');
  t.equal(await waiting, undefined);
  t.strictSame(reports, ['API server checks failing: etcd', '/readyz returned 503']);
  t.match(api.requests[0], { method: 'GET', path: '/readyz', query: { verbose: '' } });
  t.equal(api.requests.length, 4);
});

t.test('of a server without its definitions, only its database is asked for', async (t) => {
  stopClock(t);
  const { api, client } = await startFakeApi(t);
  api.rule(({ path }) => (path === '/livez/etcd' ? { code: 200, body: 'ok' } : UNREADY));
  t.equal(await isApiReady(client, signal), false);
  t.equal(await isApiReady(client, signal, '/livez/etcd'), true);
  await waitForApi(client, { signal, deadlineMs: 1000, report: () => {} }, '/livez/etcd');
  t.equal(readinessReason({ code: 500, body: '' }, '/livez/etcd'), '/livez/etcd returned 500');
});

t.test('at the deadline the wait fails with the last reason', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  api.rule(() => UNREADY);
  const waiting = thrownBy(waitForApi(client, { signal, deadlineMs: 1500, report: () => {} }));
  for (const _ of [1, 2, 3]) await clock.wake();
  t.match(await waiting, {
    kind: 'deadline',
    message: /^the API was not ready within 2s/,
    details: { expected: '/readyz to return 200', found: 'API server checks failing: etcd' },
  });
  t.equal(api.requests.length, 3, 'none at the deadline, which it would exceed');
  t.strictSame(clock.deadlines, [1500, 1000, 500], 'no request outlives the wait');
});

t.test('readiness now', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  t.equal(await isApiReady(client, signal), false, 'an API that does not know /readyz');
  t.strictSame(clock.deadlines, [5000]);
  api.rule(() => 'cut');
  t.match(await whyNotReady(client, signal), /^GET \/readyz\?verbose: /, 'no answer');
  api.rule(() => ({ code: 200 }));
  t.equal(await isApiReady(client, signal), true);
  t.equal(await whyNotReady(client, signal), undefined);
  const stopped = AbortSignal.abort(new Error('told to stop'));
  await t.rejects(isApiReady(client, stopped), /told to stop/);
});

t.test('a signal ends the wait during a request and during a pause', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  const stop = new AbortController();
  api.rule(() => UNREADY);
  const wait = { signal: stop.signal, deadlineMs: 60_000, report: () => {} };
  const pausing = waitForApi(client, wait);
  await clock.sleeping();
  stop.abort(new Error('told to stop'));
  await t.rejects(pausing);
  await t.rejects(waitForApi(client, wait), /told to stop/);
});

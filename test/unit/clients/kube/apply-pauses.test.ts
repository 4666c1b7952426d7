import t, { type Test } from 'tap';
import { type ApplyOptions, applyManifests } from '../../../../lib/clients/kube/apply.ts';
import type { ApplyAttempt } from '../../../../lib/clients/kube/apply-one.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { type FakeApi, refusal, startFakeApi } from './fake-api.ts';
import { type StoppedClock, stopClock } from './stopped-clock.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const SECRETS = '/api/v1/namespaces/ns/secrets';
const CORE = [
  { name: 'namespaces', kind: 'Namespace', namespaced: false },
  { name: 'secrets', kind: 'Secret', namespaced: true },
];
const TILL = 'apiVersion: shop.test/v1\nkind: Till\nmetadata: {name: t}\n';
const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n';
const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n';
const STARTING = refusal(503, { message: 'starting' });
const LATER = { code: 429, body: 'later', headers: { 'retry-after': '600' } };

/** An API that serves core kinds but no tills, with the clock stopped. */
async function stopped(t: Test) {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  api.rule(({ path }) =>
    path === '/api/v1' ? { code: 200, body: { resources: CORE } } : undefined,
  );
  const stop = new AbortController();
  const apply = (text: string, options: Partial<ApplyOptions> = {}) => {
    const { manifests } = decodeManifests('a.yaml', text);
    const { signal } = stop;
    const all = { concurrency: 1, deadlineMs: 3_600_000, signal, report: () => {}, ...options };
    return applyManifests(client, { manifests, faults: [] }, all);
  };
  return { clock, api, stop, apply };
}

async function pauses(clock: StoppedClock, count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) found.push(await clock.wake());
  return found;
}

const sent = (api: FakeApi, path: string) =>
  api.requests.filter((request) => request.path === path && request.query.watch === undefined);

/** Waits until both watches are open, so that only the work itself sleeps. */
async function watched(api: FakeApi): Promise<void> {
  while (api.watchers(DEFINITIONS) === 0 || api.watchers(SERVICES) === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What the watches find at first ends a pause, too: how many of the shortest there are depends on when that comes. */
async function firstPauses(clock: StoppedClock, api: FakeApi): Promise<void> {
  await watched(api);
  while ((await clock.sleeping()) <= 100) await clock.wake();
}

t.test('pauses grow to a second while a kind is not served', async (t) => {
  const { clock, api, stop, apply } = await stopped(t);
  const rows = apply(TILL);
  await firstPauses(clock, api);
  const before = sent(api, '/apis/shop.test/v1').length;
  t.strictSame(await pauses(clock, 5), [200, 400, 800, 1000, 1000]);
  await clock.sleeping();
  const asked = sent(api, '/apis/shop.test/v1').length - before;
  t.equal(asked, 5, 'each time the API is asked anew');
  stop.abort(new Error('told to stop'));
  await t.rejects(rows, /told to stop/);
  await api.idle();
});

t.test('pauses grow to five seconds while the API refuses', async (t) => {
  const { clock, api, stop, apply } = await stopped(t);
  api.rule(({ method }) => (method === 'POST' ? STARTING : undefined));
  const rows = apply(SECRET);
  t.strictSame(await pauses(clock, 8), [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  t.ok(clock.deadlines.includes(35_000), 'a request may take as long as the slowest webhook');
  stop.abort(new Error('told to stop'));
  await t.rejects(rows, /told to stop/);
});

t.test('callers can set other pauses; the server can request longer ones', async (t) => {
  const { clock, api, stop, apply } = await stopped(t);
  const replies = [STARTING, STARTING, STARTING, LATER];
  api.rule(({ method }) => (method === 'POST' ? replies.shift() : undefined));
  const longestPauses = { unservedMs: 150, refusedMs: 350 };
  const attempts: ApplyAttempt[] = [];
  const rows = apply(SECRET, {
    longestPauses,
    attempted: async (_manifest, attempt) => void attempts.push(attempt),
  });
  t.strictSame(await pauses(clock, 4), [100, 200, 350, 600_000]);
  t.match(await rows, [{ outcome: 'created', reason: '', attempts: 5 }]);
  t.match(attempts, [{ reason: /starting/ }, { reason: /later/ }, { kind: 'created' }]);
  await api.idle();
  const unserved = apply(TILL, { longestPauses });
  await firstPauses(clock, api);
  t.strictSame(await pauses(clock, 2), [150, 150]);
  stop.abort();
  await t.rejects(unserved);
});

for (const collection of [DEFINITIONS, SERVICES]) {
  t.test(
    `a change in ${collection} ends the pauses of objects waiting for their kind`,
    async (t) => {
      const { clock, api, stop, apply } = await stopped(t);
      api.rule(({ method }) => (method === 'POST' ? LATER : undefined));
      const rows = apply(`${TILL}---\n${SECRET}`);
      t.strictSame(await pauses(clock, 4), [100, 200, 400, 800]);
      await clock.sleeping();
      await watched(api);
      const asked = sent(api, '/apis/shop.test/v1').length;
      api.set(`${collection}/x`, { metadata: { name: 'x' } });
      while (sent(api, '/apis/shop.test/v1').length === asked) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      while ((await clock.sleeping()) > 200) await new Promise((resolve) => setImmediate(resolve));
      t.strictSame(await pauses(clock, 2), [100, 200], 'they begin anew');
      t.equal(sent(api, SECRETS).length, 1, 'what the API refused keeps its pause');
      stop.abort();
      await t.rejects(rows);
    },
  );
}

t.test('when the API is back, everything is tried immediately', async (t) => {
  const { clock, api, apply } = await stopped(t);
  const replies = [LATER];
  api.rule(({ method }) => (method === 'POST' ? replies.shift() : undefined));
  const rows = apply(SECRET);
  t.equal(await clock.sleeping(), 600_000);
  await watched(api);
  api.cut(DEFINITIONS);
  while ((await clock.sleeping()) > 100) await new Promise((resolve) => setImmediate(resolve));
  clock.pass(100);
  t.match(await rows, [{ outcome: 'created', attempts: 2 }], 'the API is there again');
  await api.idle();
});

t.test('it ends at its deadline, and reports what each object waited for', async (t) => {
  const { clock, api, apply } = await stopped(t);
  api.rule(({ method }) => (method === 'POST' ? STARTING : undefined));
  const rows = apply(`${SECRET}---\n${TILL}`, { deadlineMs: 1000 });
  t.strictSame(await pauses(clock, 4), [100, 200, 400, 300]);
  const ofRequests = clock.deadlines.filter((ms) => ms <= 1000);
  t.strictSame([...new Set(ofRequests)], [1000, 900, 700, 300], 'no request outlives it');
  t.match(await rows, [
    { outcome: 'timed out', reason: /503 starting/, attempts: 4 },
    { outcome: 'unserved', reason: 'the API serves no Till in shop.test/v1', attempts: 4 },
  ]);
});

t.test('a timeout is only reported if nothing else is known', async (t) => {
  const { clock, api, apply } = await stopped(t);
  let isOver = false;
  let endsAt = clock.now + 1000;
  api.rule(({ method }) => {
    if (method !== 'POST') return undefined;
    if (!isOver) return STARTING;
    clock.pass(endsAt - clock.now);
    return new Promise(() => {});
  });
  const rows = apply(SECRET, { deadlineMs: 1000 });
  await clock.sleeping();
  isOver = true;
  await clock.wake();
  t.match(await rows, [{ outcome: 'timed out', reason: /503 starting/, attempts: 2 }]);
  const reports: string[] = [];
  endsAt = clock.now + 1000;
  const cut = apply(`${SECRET}---\n${NAMESPACE}`, {
    deadlineMs: 1000,
    report: (text) => reports.push(text),
  });
  t.match(await cut, [
    { outcome: 'timed out', reason: 'not attempted', attempts: 0 },
    {
      outcome: 'timed out',
      reason: /^POST \/api\/v1\/namespaces\?\S*: .*(longer than it may|deadline|abort)/i,
      attempts: 1,
    },
  ]);
  t.strictSame(reports, ['0 of 2 manifests processed, 2 waiting']);
});

t.test('a request completed at the deadline counts, and nothing is started after it', async (t) => {
  const { clock, api, apply } = await stopped(t);
  const replies = [STARTING];
  api.rule(({ method, path }) => {
    if (method !== 'POST' || path !== '/api/v1/namespaces') return undefined;
    if (replies.length === 0) clock.jump(1000);
    return replies.shift();
  });
  const attempts: string[] = [];
  const missing = refusal(404, { message: 'namespaces "ns" not found' });
  api.rule(({ method, path }) => (method === 'POST' && path === SECRETS ? missing : undefined));
  const running = apply(`${NAMESPACE}---\n${SECRET}`, {
    deadlineMs: 1000,
    attempted: async ({ kind }, attempt) => void attempts.push(`${kind} ${attempt.kind}`),
  });
  await clock.wake();
  t.match(await running, [
    { outcome: 'created', attempts: 2 },
    { outcome: 'timed out', reason: /namespaces "ns" not found/, attempts: 1 },
  ]);
  t.strictSame(attempts, ['Namespace waits', 'Secret waits', 'Namespace created']);
});

t.test('nothing continues before an outcome is recorded', async (t) => {
  const { api, apply } = await stopped(t);
  const noted = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const rows = apply(`${NAMESPACE}---\n${SECRET}`, {
    attempted: async () => {
      first.resolve();
      await noted.promise;
    },
  });
  await first.promise;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(sent(api, SECRETS).length, 0);
  noted.resolve();
  t.match(await rows, [{ outcome: 'created' }, { outcome: 'created' }]);
});

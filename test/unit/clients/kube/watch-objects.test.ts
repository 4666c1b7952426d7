import t, { type Test } from 'tap';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import {
  type ObjectSnapshot,
  watchObjects,
  watchUntil,
} from '../../../../lib/clients/kube/watch-objects.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { type FakeApi, refusal, startFakeApi } from './fake-api.ts';
import { stopClock } from './stopped-clock.ts';

const ALL = '/api/v1/configmaps';
const PLACE = '/api/v1/namespaces/ns/configmaps';
const object = (name: string, a = '1') => ({ metadata: { name, namespace: 'ns' }, data: { a } });
const LIST = { code: 200, body: { metadata: { resourceVersion: '41' }, items: [] } };
const { configMaps } = resources;

/** A watch with the clock stopped. */
async function watching(t: Test) {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const snapshots = watchObjects(client, configMaps, {}, stop.signal);
  const next = async () => {
    const { value } = await snapshots.next();
    if (value === undefined) throw new Error('the watch ended');
    const { objects, lost }: ObjectSnapshot<{ data?: Record<string, string> | undefined }> = value;
    return {
      objects: [...objects].map(([key, { data }]) => `${key}=${data?.a}`),
      lost: lost?.kind,
    };
  };
  return { api, clock, stop, next };
}

const lines = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const watches = (api: FakeApi) => api.requests.filter(({ query }) => query.watch === 'true');
const lists = (api: FakeApi) => api.requests.filter(({ query }) => query.watch !== 'true');

async function watcherOf(api: FakeApi): Promise<void> {
  while (api.watchers(ALL) === 0) await new Promise((resolve) => setImmediate(resolve));
}

t.test('all objects at first, then after each change', async (t) => {
  const { api, clock, next, stop } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  t.strictSame(await next(), { objects: ['ns/one=1'], lost: undefined });
  t.strictSame(clock.deadlines, [30_000], 'a list of everything may take its time');
  api.set(`${PLACE}/two`, object('two'));
  t.strictSame((await next()).objects, ['ns/one=1', 'ns/two=1']);
  api.set(`${PLACE}/one`, object('one', '2'));
  t.strictSame((await next()).objects, ['ns/one=2', 'ns/two=1']);
  api.delete(`${PLACE}/one`);
  t.strictSame((await next()).objects, ['ns/two=1']);
  const ended = next();
  stop.abort(new Error('told to stop'));
  await t.rejects(ended, /told to stop/);
});

t.test('a broken watch is reported once and followed by a new list', async (t) => {
  const { api, clock, next } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  await next();
  const lost = next();
  await watcherOf(api);
  api.cut(ALL);
  t.strictSame(await lost, { objects: ['ns/one=1'], lost: 'unreachable' });
  api.delete(`${PLACE}/one`);
  const again = next();
  t.equal(await clock.wake(), 100);
  t.strictSame(await again, { objects: [], lost: undefined });
});

t.test('a watch that ends cleanly is resumed at its last version', async (t) => {
  const { api, next } = await watching(t);
  const at = (resourceVersion?: string) => ({ metadata: { name: 'x', resourceVersion } });
  const ends = [
    [{ type: 'BOOKMARK', object: at('50') }],
    [{ type: 'ADDED', object: at('60') }],
    [{ type: 'MODIFIED', object: at() }],
    [],
  ];
  api.rule(({ query }) => {
    if (query.watch !== 'true') return LIST;
    const events = ends.shift();
    return events && { code: 200, body: lines(...events) };
  });
  t.strictSame((await next()).objects, []);
  t.strictSame((await next()).objects, ['x=undefined'], 'the key of what has no namespace');
  t.strictSame((await next()).objects, ['x=undefined']);
  const changed = next();
  await watcherOf(api);
  api.send(ALL, { type: 'MODIFIED', object: object('one', '2') });
  t.strictSame((await changed).objects, ['x=undefined', 'ns/one=2']);
  t.equal(lists(api).length, 1, 'listed once');
  t.strictSame(
    watches(api).map(({ query }) => query.resourceVersion),
    ['41', '50', '60', '60', '60'],
  );
});

t.test('an expired version causes a new list, silently', async (t) => {
  const { api, clock, next } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  await next();
  const again = next();
  await watcherOf(api);
  api.send(ALL, { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  t.equal(await clock.wake(), 100);
  t.strictSame(await again, { objects: ['ns/one=1'], lost: undefined });
});

t.test('refusals are retried, other errors are not', async (t) => {
  const { api, clock, next } = await watching(t);
  const later = { code: 429, body: '', headers: { 'retry-after': '7' } };
  const refusals = [refusal(403, { message: 'not yet' }), refusal(503, {}), later];
  api.rule(({ path }) => (path === ALL ? refusals.shift() : undefined));
  t.strictSame(await next(), { objects: [], lost: 'rejected' });
  for (const [pause, lost] of [
    [100, 'busy'],
    [200, 'busy'],
    [7000, undefined],
  ]) {
    const following = next();
    t.equal(await clock.wake(), pause);
    t.strictSame(await following, { objects: [], lost });
  }
  const broken = next();
  await watcherOf(api);
  api.send(ALL, { type: 'MODIFIED', object: 'no object' });
  await t.rejects(broken, /: the answer is not as expected: /);
});

t.test('pauses grow with consecutive failures, until a watch has worked', async (t) => {
  const { api, clock, next } = await watching(t);
  const lives = [0, 0, 5000, 5001, 0];
  const pauses: number[] = [];
  await next();
  for (const ms of lives) {
    const lost = next();
    await watcherOf(api);
    clock.pass(ms);
    api.cut(ALL);
    t.equal((await lost).lost, 'unreachable');
    const again = next();
    pauses.push(await clock.wake());
    t.strictSame(await again, { objects: [], lost: undefined });
  }
  t.strictSame(pauses, [100, 200, 400, 100, 100]);
});

t.test('a signal ends a pause', async (t) => {
  const { api, clock, next, stop } = await watching(t);
  api.rule(() => refusal(503, {}));
  await next();
  const ended = next();
  await clock.sleeping();
  stop.abort(new Error('told to stop'));
  await t.rejects(ended);
});

t.test('a wait returns the decision, and reports changes', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${PLACE}/one`, object('one'));
  const reports: string[] = [];
  const result = await watchUntil(
    client,
    configMaps,
    { namespace: 'ns' },
    (objects) => (objects.size === 2 ? ('both' as const) : undefined),
    {
      signal: new AbortController().signal,
      deadlineMs: 60_000,
      what: 'two objects',
      describe: (objects) => `${objects.size} of them`,
      report: (text) => {
        reports.push(text);
        // The first change is not one that the wait reacts to.
        api.set(`${PLACE}/one`, object('one', '2'));
        api.set(`${PLACE}/two`, object('two'));
      },
    },
  );
  t.equal(result, 'both');
  t.strictSame(reports, ['1 of them'], 'the same is not reported twice');
  t.equal(api.requests[0]?.path, PLACE);
  await api.idle();
});

t.test('a wait ends at its deadline with the last observation', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  api.set(`${PLACE}/one`, object('one'));
  const wait = (deadlineMs: number, decide: () => string | undefined, signal: AbortSignal) =>
    watchUntil(client, configMaps, {}, decide, {
      signal,
      deadlineMs,
      what: 'an object',
      describe: ({ size }) => `${size} of them`,
      report: () => clock.pass(deadlineMs),
    });
  const { signal } = new AbortController();
  const never = () => undefined;
  t.match(await thrownBy(wait(1600, never, signal)), {
    kind: 'deadline',
    message: /^waited 2s for an object/,
    details: { found: '1 of them' },
  });
  t.match(clock.deadlines, [1600], 'whole milliseconds');
  api.rule(() => refusal(503, { message: 'starting' }));
  const lost = wait(1600, () => 'decided', signal);
  t.match(await thrownBy(lost), { kind: 'deadline', details: { found: /503 starting/ } });
  api.rule(() => new Promise(() => setImmediate(() => clock.pass(1600))));
  t.match(await thrownBy(wait(1600, never, signal)), {
    kind: 'deadline',
    details: { found: 'nothing: the API server has not answered' },
  });
  const stopped = AbortSignal.abort(new Error('told to stop'));
  await t.rejects(wait(1600, never, stopped), /told to stop/);
  clock.deadlines.length = 0;
  for (const deadlineMs of [-1, 0.2, 1.5]) await thrownBy(wait(deadlineMs, never, signal));
  t.match(
    clock.deadlines.filter((ms) => ms < 30_000),
    [1, 1, 2],
  );
});

t.test('an error in the deciding function is not retried', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${PLACE}/one`, object('one'));
  const broken = watchUntil(
    client,
    configMaps,
    {},
    () => {
      throw new TypeError('a bug');
    },
    {
      signal: new AbortController().signal,
      deadlineMs: 60_000,
      what: '',
      describe: () => '',
      report: () => {},
    },
  );
  await t.rejects(broken, { name: 'TypeError' });
});

import t, { type Test } from 'tap';
import { resources } from '../../../lib/kube/resources.ts';
import { type Snapshot, watchObjects, watchUntil } from '../../../lib/kube/watch-objects.ts';
import { thrownBy } from '../errors/thrown-by.ts';
import { type FakeApi, refusal, startFakeApi } from './fake-api.ts';

const ALL = '/api/v1/configmaps';
const PLACE = '/api/v1/namespaces/ns/configmaps';
const object = (name: string, a = '1') => ({ metadata: { name, namespace: 'ns' }, data: { a } });

async function watching(t: Test) {
  const { api, client } = await startFakeApi(t);
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const snapshots = watchObjects(client, resources.configMaps, {}, stop.signal);
  const next = async () => {
    const { value } = await snapshots.next();
    if (value === undefined) throw new Error('the watch ended');
    const { objects, lost }: Snapshot<{ data?: Record<string, string> | undefined }> = value;
    return {
      objects: [...objects].map(([key, { data }]) => `${key}=${data?.a}`),
      lost: lost?.kind,
    };
  };
  return { api, client, stop, next };
}

async function watcherOf(api: FakeApi): Promise<void> {
  while (api.watchers(ALL) === 0) await new Promise((resolve) => setImmediate(resolve));
}

t.test('everything now, then after each change', async (t) => {
  const { api, next, stop } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  t.strictSame(await next(), { objects: ['ns/one=1'], lost: undefined });
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

t.test('a watch that drops says so once and lists again', async (t) => {
  const { api, next } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  await next();
  const lost = next();
  await watcherOf(api);
  api.cut(ALL);
  t.strictSame(await lost, { objects: ['ns/one=1'], lost: 'unreachable' });
  api.delete(`${PLACE}/one`);
  t.strictSame(await next(), { objects: [], lost: undefined });
});

t.test('a watch that ends cleanly resumes where it was', async (t) => {
  const { api, next } = await watching(t);
  let ended = false;
  api.rule(({ query }) => {
    if (query.watch !== 'true' || ended) return undefined;
    ended = true;
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7777' } } };
    return { code: 200, body: `${JSON.stringify(bookmark)}\n` };
  });
  api.set(`${PLACE}/one`, object('one'));
  await next();
  const changed = next();
  await watcherOf(api);
  api.send(ALL, { type: 'MODIFIED', object: object('one', '2') });
  t.strictSame((await changed).objects, ['ns/one=2']);
  t.equal(api.requests.filter(({ query }) => query.watch !== 'true').length, 1, 'listed once');
  const watches = api.requests.filter(({ query }) => query.watch === 'true');
  t.match(watches, [
    { query: { allowWatchBookmarks: 'true' } },
    { query: { resourceVersion: '7777' } },
  ]);
});

t.test('an expired version is listed again silently', async (t) => {
  const { api, next } = await watching(t);
  api.set(`${PLACE}/one`, object('one'));
  await next();
  const again = next();
  await watcherOf(api);
  api.send(ALL, { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  t.strictSame(await again, { objects: ['ns/one=1'], lost: undefined });
});

t.test('refusals are waited out, other errors are not', async (t) => {
  const { api, next } = await watching(t);
  const refusals = [refusal(403, { message: 'not yet' }), refusal(503, {})];
  api.rule(({ path }) => (path === ALL ? refusals.shift() : undefined));
  t.match(await next(), { objects: [], lost: 'rejected' });
  t.match(await next(), { lost: 'busy' });
  t.match(await next(), { objects: [], lost: undefined });
  const broken = next();
  await watcherOf(api);
  api.send(ALL, { type: 'MODIFIED', object: 'no object' });
  await t.rejects(broken, { name: 'ZodError' });
});

t.test('a wait ends with what was decided, and reports what changes', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${PLACE}/one`, object('one'));
  const reports: string[] = [];
  const wait = (deadlineMs: number, signal = AbortSignal.timeout(60_000)) => ({
    signal,
    deadlineMs,
    what: 'two objects',
    describe: (objects: ReadonlyMap<string, unknown>) => `${objects.size} of them`,
    report: (text: string) => {
      reports.push(text);
      if (text === '1 of them') api.set(`${PLACE}/one`, object('one', '2'));
      if (reports.length === 1) setImmediate(() => api.set(`${PLACE}/two`, object('two')));
    },
  });
  const decide = (objects: ReadonlyMap<string, unknown>) =>
    objects.size === 2 ? ('both' as const) : undefined;
  const { configMaps } = resources;
  t.equal(await watchUntil(client, configMaps, {}, decide, wait(60_000)), 'both');
  t.strictSame(reports, ['1 of them'], 'the same is not reported twice');

  const never = () => undefined;
  const late = watchUntil(client, configMaps, {}, never, wait(700));
  t.match(await thrownBy(late), {
    kind: 'deadline',
    message: /waited 1s for two objects/,
    details: { found: '2 of them' },
  });
  api.rule(() => refusal(503, { message: 'starting' }));
  const lost = watchUntil(client, configMaps, {}, () => 'decided', wait(700));
  t.match(await thrownBy(lost), { kind: 'deadline', details: { found: /503 starting/ } });
  api.rule(() => new Promise(() => {}));
  const silent = watchUntil(client, configMaps, {}, never, wait(300));
  t.match(await thrownBy(silent), { details: { found: 'nothing: the API has not answered' } });
  const stopped = AbortSignal.abort(new Error('told to stop'));
  await t.rejects(watchUntil(client, configMaps, {}, never, wait(9000, stopped)), /told to stop/);
});

import t from 'tap';
import { apiOf } from '../../../../agents/gather/sources/api.ts';
import { newestEvents } from '../../../../agents/gather/sources/newest-events.ts';
import { listDocument, type Page, pages } from '../../../../agents/gather/sources/object-list.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { testHost } from './host.ts';
import { adminKubeconfig, serveApi } from './serve-api.ts';

const { signal } = new AbortController();

async function* given(lists: readonly unknown[][], failure?: Error): AsyncGenerator<Page> {
  for (const items of lists) {
    const metadata = { resourceVersion: '7', continue: 'x', remainingItemCount: 3 };
    yield { kind: 'PodList', apiVersion: 'v1', metadata, items };
  }
  if (failure !== undefined) throw failure;
}

async function written(chunks: AsyncIterable<Uint8Array>) {
  const parts: Uint8Array[] = [];
  let failure = '';
  try {
    for await (const chunk of chunks) parts.push(chunk);
  } catch (error) {
    failure = String(error);
  }
  const text = Buffer.concat(parts).toString();
  return { text, json: text === '' ? undefined : JSON.parse(text), failure };
}

const pod = (name: string, more: object = {}) => ({ metadata: { name, ...more } });
const MANY = 1 << 20;

t.test('pages become one list, without managed fields', async (t) => {
  const lists = [[pod('a', { managedFields: [{ manager: 'x' }] })], [], [pod('b'), pod('c')]];
  const { json, failure } = await written(listDocument(given(lists), MANY));
  t.strictSame(json, {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    items: [pod('a'), pod('b'), pod('c')],
  });
  t.equal(failure, '');
  t.strictSame((await written(listDocument(given([[]]), MANY))).json.items, []);
});

t.test('an incomplete list is still a valid document', async (t) => {
  const cut = await written(listDocument(given([[pod('a')]], new Error('cut off')), MANY));
  t.strictSame(cut.json.items, [pod('a')]);
  t.match(cut.failure, /cut off/);
  const large = [pod('a'), pod('b', { x: 'x'.repeat(2000) }), pod('c')];
  const full = await written(listDocument(given([large]), 1000));
  t.strictSame(full.json.items, [pod('a')]);
  t.match(full.failure, /the first 1 objects/);
  const none = await written(listDocument(given([], new Error('refused')), MANY));
  t.match(none, { text: '', failure: /refused/ });
});

t.test('events are sorted by time, and the newest are kept', async (t) => {
  const at = (minute: number, field: object = {}) => ({
    metadata: { name: `m${minute}`, creationTimestamp: `2026-01-01T00:0${minute}:00Z` },
    ...field,
  });
  const moved = at(1, { lastTimestamp: '2026-01-01T00:08:00Z', note: 'later' });
  const series = at(2, { series: { lastObservedTime: '2026-01-01T00:09:00.000001Z' } });
  const lists = [
    [at(5), moved],
    [at(3), series, { metadata: {} }],
  ];
  const all = await written(newestEvents(given(lists), MANY));
  t.strictSame(all.json.items, [at(3), at(5), moved, series, { metadata: {} }]);
  const since = await written(newestEvents(given(lists), MANY, Date.parse('2026-01-01T00:04Z')));
  t.equal(since.json.items.length, 4);
  const few = await written(newestEvents(given(lists), 330));
  t.strictSame(few.json.items, [moved, series, { metadata: {} }]);
  t.match(few.failure, /oldest 2 events/);
  const cut = await written(newestEvents(given(lists, new Error('cut off')), MANY));
  t.equal(cut.json.items.length, 5);
  t.match(cut.failure, /cut off/);
});

t.test('large objects are requested in smaller pages, and each once', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  const limits: number[] = [];
  const { port } = await serveApi(t, ({ url = '' }, answer) => {
    if (url === '/version') return void answer.end('{}');
    const query = new URL(url, 'https://x').searchParams;
    const limit = Number(query.get('limit'));
    limits.push(limit);
    const start = Number(query.get('continue') ?? 0);
    const items = names
      .slice(start, start + limit)
      .map((name) => pod(name, { text: 'x'.repeat(200_000) }));
    const end = start + items.length;
    const metadata = end < names.length ? { continue: String(end) } : {};
    answer.end(JSON.stringify({ kind: 'PodList', metadata, items }));
  });
  const { host, write } = testHost(t, 'live');
  write(accessTo('kubernetes').kubeconfigs.bootstrapAdmin, adminKubeconfig(port));
  const api = await apiOf(host, signal);
  const list = pages(api, { path: '/api/v1/pods' }, signal);
  const { json, failure } = await written(listDocument(list, 64 << 20));
  t.strictSame(
    json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    names,
  );
  t.equal(failure, '');
  t.strictSame(limits.slice(0, 3), [500, 100, 20]);
});

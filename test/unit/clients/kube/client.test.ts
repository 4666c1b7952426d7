import t, { type Test } from 'tap';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { type ApiRequest, refusal, startFakeApi } from './fake-api.ts';
import { stopClock } from './stopped-clock.ts';

const { configMaps } = resources;
const PLACE = '/api/v1/namespaces/ns/configmaps';
const one = { namespace: 'ns', name: 'one' };
const object = (data: Record<string, string>) => ({ metadata: one, data });
const limits: Limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const summary = ({ method, path, query, body }: ApiRequest) => ({ method, path, query, body });

t.test('each operation is one request, and returns the object', async (t) => {
  const { api, client } = await startFakeApi(t);
  const stored = (a: string) => ({ metadata: { ...one, uid: `${PLACE}/one` }, data: { a } });
  const created = await client.create(configMaps, { namespace: 'ns' }, object({ a: '1' }), limits);
  t.match(created, stored('1'));
  t.match(await client.get(configMaps, one, limits), stored('1'));
  t.match(await client.find(configMaps, one, limits), stored('1'));
  t.match(await client.replace(configMaps, one, object({ a: '2' }), limits), stored('2'));
  t.match(await client.json({ method: 'GET', path: `${PLACE}/one` }, limits), stored('2'));
  t.equal(await client.remove(configMaps, one, limits), true);
  t.equal(await client.remove(configMaps, one, limits), false, 'it was deleted already');
  t.equal(await client.find(configMaps, one, limits), undefined);
  const seen = (method: string, path: string, body?: object) => ({ method, path, body, query: {} });
  t.strictSame(api.requests.map(summary), [
    seen('POST', PLACE, object({ a: '1' })),
    seen('GET', `${PLACE}/one`),
    seen('GET', `${PLACE}/one`),
    seen('PUT', `${PLACE}/one`, object({ a: '2' })),
    seen('GET', `${PLACE}/one`),
    seen('DELETE', `${PLACE}/one`, undefined),
    seen('DELETE', `${PLACE}/one`, undefined),
    seen('GET', `${PLACE}/one`),
  ]);
});

t.test('missing objects and refusals are errors of their own kinds', async (t) => {
  const { api, client } = await startFakeApi(t);
  await t.rejects(client.get(configMaps, one, limits), { name: 'KubeError', code: 404 });
  api.rule(() => refusal(403, { reason: 'Forbidden', message: 'no' }));
  const refused = { kind: 'rejected', code: 403, reason: 'Forbidden' };
  t.match(await thrownBy(client.find(configMaps, one, limits)), refused);
  t.match(await thrownBy(client.remove(configMaps, one, limits)), refused);
  api.rule(() => ({ code: 300, body: {} }));
  t.match(await thrownBy(client.get(configMaps, one, limits)), { kind: 'rejected', code: 300 });
  api.rule(() => ({ ...{ code: 503, body: 'later' }, headers: { 'retry-after': '3' } }));
  t.match(await thrownBy(client.json({ method: 'GET', path: '/x?y=1' }, limits)), {
    kind: 'busy',
    message: 'GET /x: 503 later',
    retryAfterMs: 3000,
  });
  api.rule(() => ({ code: 200, body: '<html>' }));
  t.match(await thrownBy(client.get(configMaps, one, limits)), {
    kind: 'busy',
    message: `GET ${PLACE}/one: the answer is not JSON`,
    cause: { name: 'SyntaxError' },
  });
  api.rule(() => ({ code: 200, body: { metadata: { name: 7 } } }));
  await t.rejects(client.get(configMaps, one, limits), {
    message: new RegExp(
      `^GET ${PLACE}/one: the answer is not as expected: metadata\\.name: expected a text, found a number$`,
    ),
  });
});

t.test('a raw request returns a response with any status', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.rule(() => ({ code: 500, body: '[-]etcd', headers: { 'retry-after': '1' } }));
  t.strictSame(await client.raw('/readyz?verbose', limits), {
    code: 500,
    body: '[-]etcd',
    retryAfter: '1',
    warnings: [],
  });
});

t.test('a list is read page by page, within one deadline', async (t) => {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  const pages: Record<string, object> = {
    '': { metadata: { resourceVersion: '7', continue: 'b&c' }, items: [object({ a: '1' })] },
    'b&c': { metadata: { resourceVersion: '7', continue: '' }, items: [object({ a: '2' })] },
  };
  api.rule(({ query }) => {
    clock.pass(100);
    return { code: 200, body: pages[query.continue ?? ''] };
  });
  const selection = { namespace: 'ns', fieldSelector: 'metadata.name=one' };
  t.strictSame(await client.list(configMaps, selection, { ...limits, deadlineMs: 1000 }), {
    resourceVersion: '7',
    items: [object({ a: '1' }), object({ a: '2' })],
  });
  const fieldSelector = 'metadata.name=one';
  t.strictSame(api.requests.map(summary), [
    { method: 'GET', path: PLACE, query: { limit: '500', fieldSelector }, body: undefined },
    {
      method: 'GET',
      path: PLACE,
      query: { limit: '500', continue: 'b&c', fieldSelector },
      body: undefined,
    },
  ]);
  t.strictSame(clock.deadlines, [1000, 900]);
  const metadata = { resourceVersion: '1' };
  const notLists = [
    { items: [] },
    { metadata },
    { metadata: {}, items: [] },
    { metadata: { ...metadata, continue: 7 }, items: [] },
    { metadata, items: {} },
  ];
  for (const wrong of notLists) {
    api.rule(() => ({ code: 200, body: wrong }));
    await t.rejects(client.list(configMaps, {}, limits), {
      message: /^GET \S+\/configmaps: the answer is not as expected: /,
    });
  }
  t.match(api.requests.at(-1), { path: '/api/v1/configmaps', query: { limit: '500' } });
  const items = [{ metadata: { name: 'one' } }, { metadata: {} }];
  api.rule(() => ({ code: 200, body: { metadata, items } }));
  await t.rejects(client.list(configMaps, {}, limits), {
    message: /configmaps, item 1: the answer is not as expected: .*metadata\.name/,
  });
  t.notHas(api.requests.at(-1)?.query, { fieldSelector: String });
});

t.test('a page that is too long is asked for again with fewer objects', async (t) => {
  const { api, client } = await startFakeApi(t);
  const long = 'x'.repeat(3 << 20);
  // Objects 10 to 14 are long; a page may have one of them.
  const items = Array.from({ length: 40 }, (_, at) =>
    object({ a: at >= 10 && at < 15 ? long : '' }),
  );
  api.rule(({ query }) => {
    const begin = Number(query.continue ?? 0);
    const end = begin + Number(query.limit);
    const more = end < items.length ? { continue: `${end}` } : {};
    const metadata = { resourceVersion: '7', ...more };
    return { code: 200, body: { metadata, items: items.slice(begin, end) } };
  });
  const found = await client.list(configMaps, { namespace: 'ns' }, limits);
  t.equal(found.items.length, 40);
  t.same(
    found.items.map(({ data }) => data?.a?.length),
    items.map(({ data }) => data.a?.length),
  );
  const sizes = api.requests.map(({ query }) => `${query.continue ?? 0}:${query.limit}`);
  t.same(sizes.slice(0, 4), ['0:500', '0:125', '0:32', '0:8'], 'fewer until it is short enough');
  const pages: number[] = [];
  for await (const page of client.pages(configMaps, { namespace: 'ns' }, limits)) {
    t.equal(page.resourceVersion, '7');
    pages.push(page.items.length);
  }
  t.equal(
    pages.reduce((sum, count) => sum + count, 0),
    40,
  );
  const huge = object({ a: 'x'.repeat(9 << 20) });
  api.rule(() => ({ code: 200, body: { metadata: { resourceVersion: '8' }, items: [huge] } }));
  t.match(await thrownBy(client.list(configMaps, {}, limits)), {
    kind: 'too-long',
    message: /the response has more than 4194304 bytes/,
  });
});

async function eventsOf(t: Test, lines: string) {
  const { api, client } = await startFakeApi(t);
  api.rule(() => ({ code: 200, body: lines }));
  const events: unknown[] = [];
  const watch = client.watch(configMaps, { namespace: 'ns' }, '41', limits.signal);
  const end = await (async () => {
    for await (const event of watch) events.push(event);
  })().catch((error: unknown) => error);
  return { events, end, request: api.requests[0] };
}
const lines = (...events: object[]) =>
  `${events.map((event) => JSON.stringify(event)).join('\n')}\n`;

t.test('a watch reports changes after a version', async (t) => {
  const clock = stopClock(t);
  const changed = object({ a: 'ä' });
  const bookmark = { metadata: { resourceVersion: '44' } };
  const { events, end, request } = await eventsOf(
    t,
    lines(
      { type: 'ADDED', object: changed },
      { type: 'MODIFIED', object: changed },
      { type: 'DELETED', object: changed },
      { type: 'BOOKMARK', object: bookmark },
    ),
  );
  t.strictSame(events, [
    { type: 'changed', object: changed },
    { type: 'changed', object: changed },
    { type: 'removed', object: changed },
    { type: 'bookmark', resourceVersion: '44' },
  ]);
  t.equal(end, undefined, 'the server ended it');
  t.strictSame(request && summary(request), {
    method: 'GET',
    path: PLACE,
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '240',
      resourceVersion: '41',
    },
    body: undefined,
  });
  t.strictSame(clock.deadlines, [270_000], 'longer than the server lets it live');
});

t.test('invalid data in a watch ends it', async (t) => {
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  const expired = await eventsOf(t, lines({ type: 'ERROR', object: gone }));
  t.match(expired.end, { kind: 'expired', message: `GET ${PLACE}: 410 too old` });
  const unknown = await eventsOf(t, lines({ type: 'ERROR', object: 'no Status' }));
  t.match(unknown.end, { kind: 'busy', code: 500 });
  for (const wrong of [
    { object: {} },
    { type: 'BOOKMARK', object: { metadata: {} } },
    { type: 'ADDED', object: { metadata: {} } },
  ]) {
    t.match((await eventsOf(t, lines(wrong))).end, {
      message: /: the answer is not as expected: /,
    });
  }
  const cut = await eventsOf(t, `${lines({ type: 'ADDED', object: object({}) })}\n\n{"type":"ADD`);
  t.equal(cut.events.length, 1, 'empty lines and half a line are no events');
  t.equal(cut.end, undefined);
});

import t, { type Test } from 'tap';
import { type ApplyOptions, applyManifests } from '../../../../lib/clients/kube/apply.ts';
import type { ApplyAttempt } from '../../../../lib/clients/kube/apply-one.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { type FakeApi, type Reply, refusal, startFakeApi } from './fake-api.ts';

const CORE = [
  { name: 'namespaces', kind: 'Namespace', namespaced: false },
  { name: 'configmaps', kind: 'ConfigMap', namespaced: true },
  { name: 'secrets', kind: 'Secret', namespaced: true },
  { name: 'pods', kind: 'Pod', namespaced: true },
  { name: 'pods/status', kind: 'Pod', namespaced: true },
  { name: 'nodes', kind: 'Node', namespaced: false },
  { name: 'nodes/status', kind: 'Node', namespaced: false },
];
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CONFIG = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${more}`;

/** An API that serves the core group. */
async function startApi(t: Test) {
  const { api, client } = await startFakeApi(t);
  api.rule(({ path }) =>
    path === '/api/v1' ? { code: 200, body: { resources: CORE } } : undefined,
  );
  return { api, client };
}

async function apply(client: KubeClient, text: string, change: Partial<ApplyOptions> = {}) {
  const { manifests } = decodeManifests('a.yaml', text);
  const rows = await applyManifests(
    client,
    { manifests, faults: [] },
    {
      concurrency: 4,
      deadlineMs: 60_000,
      signal: AbortSignal.timeout(120_000),
      report: () => {},
      longestPauses: { unservedMs: 50, refusedMs: 50 },
      ...change,
    },
  );
  return rows.map(({ outcome, reason }) => ({ outcome, reason }));
}

/** Sets the first replies to a request; later ones come from the store. */
function answerFirst(api: FakeApi, method: string, path: string, ...replies: Reply[]): void {
  api.rule((request) =>
    request.method === method && request.path === path ? replies.shift() : undefined,
  );
}

const sent = (api: FakeApi, ...methods: string[]) =>
  api.requests
    .filter(({ method }) => methods.includes(method))
    .map(({ method, path }) => `${method} ${path}`);

t.test('missing objects are created, existing ones left unchanged', async (t) => {
  const { api, client } = await startApi(t);
  api.set(`${CONFIG}/old`, { metadata: { name: 'old', namespace: 'default' }, data: { a: '1' } });
  const text = `${configMap('new')}---\n${configMap('old', 'data: {a: "2"}\n')}`;
  t.strictSame(await apply(client, text), [
    { outcome: 'created', reason: '' },
    { outcome: 'existing', reason: '' },
  ]);
  t.match(api.get(`${CONFIG}/new`), { apiVersion: 'v1', kind: 'ConfigMap' });
  t.match(api.get(`${CONFIG}/old`), { data: { a: '1' } });
  t.strictSame(sent(api, 'PUT', 'PATCH', 'DELETE'), []);
});

t.test('the path of an object is that of its kind', async (t) => {
  const { api, client } = await startApi(t);
  const text = [
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n',
    configMap('c'),
  ].join('---\n');
  await apply(client, text);
  t.strictSame(sent(api, 'POST').sort(), [
    'POST /api/v1/namespaces',
    `POST ${CONFIG}`,
    'POST /api/v1/namespaces/ns/secrets',
  ]);
});

const GADGET = 'apiVersion: shop.test/v1\nkind: Gadget\nmetadata: {name: g, namespace: foreign}\n';
const GADGETS = {
  code: 200,
  body: {
    resources: [
      { name: 'gadgets', kind: 'Gadget', namespaced: false },
      { name: 'gadgets/status', kind: 'Gadget', namespaced: false },
    ],
  },
};
const gadgets = ({ path }: { path: string }) =>
  path === '/apis/shop.test/v1' ? GADGETS : undefined;

t.test('a cluster-scoped object is created and found without a namespace', async (t) => {
  const { api, client } = await startApi(t);
  api.rule(gadgets);
  t.match(await apply(client, `${GADGET}status: {a: 1}\n`), [{ outcome: 'created' }]);
  t.ok(api.get('/apis/shop.test/v1/gadgets/g'));
  const collection = '/apis/shop.test/v1/gadgets';
  answerFirst(api, 'POST', collection, refusal(422, { reason: 'Invalid', message: 'no' }));
  t.strictSame(await apply(client, GADGET), [{ outcome: 'existing', reason: '' }]);
  api.set(`${collection}/g`, { metadata: { name: 'g' } });
  t.match(await apply(client, `${GADGET}status: {a: 1}\n`), [{ outcome: 'existing' }]);
  t.strictSame(sent(api, 'PUT'), [`PUT ${collection}/g/status`]);
});

t.test('a refused object is looked up before it counts as refused', async (t) => {
  const { api, client } = await startApi(t);
  const invalid = refusal(422, { reason: 'Invalid', message: 'is invalid' });
  answerFirst(api, 'POST', CONFIG, invalid, invalid);
  api.set(`${CONFIG}/there`, { metadata: { name: 'there', namespace: 'default' } });
  t.match(await apply(client, configMap('there')), [{ outcome: 'existing' }]);
  t.match(await apply(client, configMap('nowhere')), [
    { outcome: 'rejected', reason: /422 is invalid/ },
  ]);
  t.equal(sent(api, 'POST').length, 2, 'a refusal is final');
});

t.test('a status is written once, if there is none', async (t) => {
  const { api, client } = await startApi(t);
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (name: string, status = 'status: {phase: Running}\n') =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n${status}`;
  api.set(`${pods}/has`, {
    metadata: { name: 'has', namespace: 'default' },
    status: { phase: 'Failed' },
  });
  api.set(`${pods}/lacks`, { metadata: { name: 'lacks', namespace: 'default' }, status: {} });
  api.rule(({ method, path, body }) => {
    if (method !== 'POST' || path !== pods) return undefined;
    if (!JSON.stringify(body).includes('"new"')) return undefined;
    return { code: 201, body: { metadata: { name: 'new', namespace: 'default', uid: 'u' } } };
  });
  api.set(`${pods}/new`, { metadata: { name: 'new', namespace: 'default' } });
  api.set(`${pods}/nil`, { metadata: { name: 'nil', namespace: 'default' }, status: null });
  const text = [
    pod('has'),
    pod('lacks'),
    pod('new'),
    pod('nil'),
    pod('without', ''),
    pod('empty', 'status: {}\n'),
    pod('nothing', 'status: null\n'),
    pod('text', 'status: Running\n'),
    configMap('c', 'status: {a: 1}\n'),
  ];
  const rows = await apply(client, text.join('---\n'));
  t.same(
    rows.map(({ outcome }) => outcome),
    ['existing', 'existing', 'created', 'existing', ...Array(5).fill('created')],
  );
  t.strictSame(sent(api, 'PUT').sort(), [
    `PUT ${pods}/lacks/status`,
    `PUT ${pods}/new/status`,
    `PUT ${pods}/nil/status`,
  ]);
  const put = api.requests.find(({ method, path }) => method === 'PUT' && path.includes('/new/'));
  t.match(put?.body, { metadata: { uid: 'u' }, status: { phase: 'Running' } });
  t.match(api.get(`${pods}/has`), { status: { phase: 'Failed' } });
});

const PASSING: readonly [title: string, reply: Reply][] = [
  ['a server that is not quite up', refusal(503, { message: 'starting' })],
  ['too many requests', { ...refusalObject(429), headers: { 'retry-after': '0' } }],
  [
    'a namespace that is not there yet',
    refusal(404, { reason: 'NotFound', message: 'namespaces "x" not found' }),
  ],
  [
    'an object on its way out',
    refusal(409, { reason: 'AlreadyExists', message: 'object is being deleted' }),
  ],
  ['no answer', 'cut'],
];
function refusalObject(code: number) {
  return { code, body: { kind: 'Status', message: 'later' } };
}

t.test('temporary errors are retried, while the rest continues', async (t) => {
  for (const [title, reply] of PASSING) {
    await t.test(title, async (t) => {
      const { api, client } = await startApi(t);
      answerFirst(api, 'POST', '/api/v1/namespaces/ns/secrets', reply, reply);
      const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n---\n${configMap('c')}`;
      t.strictSame(await apply(client, text), [
        { outcome: 'created', reason: '' },
        { outcome: 'created', reason: '' },
      ]);
      t.equal(sent(api, 'POST').filter((line) => line.endsWith('secrets')).length, 3);
    });
  }
});

t.test('levels are applied one after the other', async (t) => {
  const { api, client } = await startApi(t);
  const text = [
    'apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\n',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: ns}\n',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n',
  ].join('---\n');
  await apply(client, text);
  t.strictSame(sent(api, 'POST'), [
    'POST /api/v1/namespaces',
    'POST /api/v1/namespaces/ns/secrets',
    'POST /api/v1/namespaces/ns/pods',
  ]);
});

t.test('a kind that is served later is requested again', async (t) => {
  const { api, client } = await startApi(t);
  let served = false;
  api.rule(({ path }) => {
    if (path !== '/apis/shop.test/v1') return undefined;
    return served
      ? { code: 200, body: { resources: [{ name: 'tills', kind: 'Till', namespaced: false }] } }
      : refusal(404, { message: 'not found' });
  });
  const reports: string[] = [];
  const attempts: string[] = [];
  const rows = apply(client, 'apiVersion: shop.test/v1\nkind: Till\nmetadata: {name: t}\n', {
    longestPauses: { unservedMs: 600_000, refusedMs: 600_000 },
    report: (text) => {
      reports.push(text);
      if (served || !text.includes('serves no Till')) return;
      served = true;
      api.set(`${DEFINITIONS}/tills.shop.test`, { metadata: { name: 'tills.shop.test' } });
    },
    attempted: async (_, { kind }) => {
      attempts.push(kind);
    },
  });
  t.strictSame(await rows, [{ outcome: 'created', reason: '' }], 'its definition ends the pause');
  t.strictSame(reports, [
    '0 of 1 manifests processed, 1 waiting: the API serves no Till in shop.test/v1',
    '1 of 1 manifests processed',
  ]);
  t.strictSame(attempts, ['unserved', 'created'], 'an outcome is told when it is another');
});

t.test('without time nothing is attempted', async (t) => {
  const { api, client } = await startApi(t);
  t.match(await apply(client, configMap('c'), { deadlineMs: 0 }), [
    { outcome: 'timed out', reason: 'not attempted' },
  ]);
  t.strictSame(sent(api, 'POST'), []);
});

t.test('a definition that is deleted meanwhile is requested again', async (t) => {
  const { api, client } = await startApi(t);
  api.rule(gadgets);
  answerFirst(api, 'POST', '/apis/shop.test/v1/gadgets', refusal(404, { reason: 'NotFound' }));
  t.match(await apply(client, GADGET), [{ outcome: 'created' }]);
  const asked = api.requests.filter(({ path }) => path === '/apis/shop.test/v1');
  t.equal(asked.length, 2);
});

t.test('file errors are rows too; a signal ends it', async (t) => {
  const { api, client } = await startApi(t);
  const { manifests, undecodable } = decodeManifests('a.yaml', `${configMap('c')}---\n- x\n`);
  const [fault] = undecodable;
  if (fault === undefined) throw new Error('decoded');
  const options = { concurrency: 1, deadlineMs: 60_000, report: () => {} };
  const signal = AbortSignal.timeout(60_000);
  const faults = [{ kind: 'undecodable' as const, ...fault }];
  const rows = await applyManifests(client, { manifests, faults }, { ...options, signal });
  t.match(rows, [{ outcome: 'undecodable' }, { outcome: 'created' }]);
  await api.idle();

  const stop = new AbortController();
  api.rule(({ method }) => (method === 'POST' ? refusal(503, {}) : undefined));
  const again = applyManifests(
    client,
    { manifests, faults: [] },
    {
      ...options,
      signal: stop.signal,
      report: () => stop.abort(new Error('told to stop')),
    },
  );
  await t.rejects(again, /told to stop/);
});

t.test('a signal ends the current request, which is not an outcome', async (t) => {
  const { api, client } = await startApi(t);
  const stop = new AbortController();
  api.rule(({ method }) => {
    if (method !== 'POST') return undefined;
    stop.abort(new Error('told to stop'));
    return new Promise(() => {});
  });
  const attempts: string[] = [];
  const options = {
    attempted: async (_: unknown, { kind }: ApplyAttempt) => void attempts.push(kind),
  };
  await t.rejects(
    apply(client, configMap('c'), { ...options, signal: stop.signal }),
    /told to stop/,
  );
  t.strictSame(attempts, []);
});

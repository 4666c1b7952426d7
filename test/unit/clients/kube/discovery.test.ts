import t from 'tap';
import { Discovery } from '../../../../lib/clients/kube/discovery.ts';
import { objectSchema } from '../../../../lib/clients/kube/resources.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal, startFakeApi } from './fake-api.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const CORE = [
  { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['create', 'list'] },
  { name: 'pods/status', kind: 'Pod', namespaced: true, verbs: ['get'] },
  { name: 'pods/eviction', kind: 'Eviction', namespaced: true, verbs: ['create'] },
  { name: 'nodes', kind: 'Node', namespaced: false, verbs: ['create'] },
  { name: 'bindings', kind: 'Binding', namespaced: true },
];

t.test('it finds out how the API serves a kind', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.rule(({ path }) =>
    path === '/api/v1' ? { code: 200, body: { resources: CORE } } : undefined,
  );
  const discovery = new Discovery(client);
  const resource = (plural: string) => ({ apiVersion: 'v1', plural, schema: objectSchema });
  t.strictSame(
    [...(await discovery.kinds('v1', limits))],
    [
      ['Pod', { resource: resource('pods'), namespaced: true, hasStatus: true, isListable: true }],
      [
        'Node',
        { resource: resource('nodes'), namespaced: false, hasStatus: false, isListable: false },
      ],
      [
        'Binding',
        { resource: resource('bindings'), namespaced: true, hasStatus: false, isListable: false },
      ],
    ],
  );
  const pod = await discovery.find({ apiVersion: 'v1', kind: 'Pod' }, limits);
  t.equal(pod?.resource.plural, 'pods');
  t.equal(await discovery.find({ apiVersion: 'v1', kind: 'Eviction' }, limits), undefined);
  t.equal(api.requests.length, 1, 'it asks once');
});

t.test('a group that is not served has no kinds, until it is requested again', async (t) => {
  const { api, client } = await startFakeApi(t);
  const discovery = new Discovery(client);
  const tills = { apiVersion: 'shop.test/v1', kind: 'Till' };
  const [first, second] = await Promise.all([
    discovery.find(tills, limits),
    discovery.find(tills, limits),
  ]);
  t.strictSame([first, second], [undefined, undefined]);
  t.strictSame(
    api.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /apis/shop.test/v1'],
    'together they ask once',
  );
  const resources = [{ name: 'tills', kind: 'Till', namespaced: false }];
  api.rule(() => ({ code: 200, body: { resources } }));
  t.equal(await discovery.find(tills, limits), undefined);
  discovery.forget('other.test/v1');
  t.equal(await discovery.find(tills, limits), undefined);
  discovery.forget(tills.apiVersion);
  t.match(await discovery.find(tills, limits), { resource: { plural: 'tills' } });
});

t.test('a failed response is not cached', async (t) => {
  const { api, client } = await startFakeApi(t);
  const discovery = new Discovery(client);
  const answers = [
    refusal(503, { message: 'starting' }),
    ...[{}, { name: 7 }, { kind: 7 }, { namespaced: 'x' }, { verbs: 'x' }].map((wrong) => ({
      code: 200,
      body: { resources: [{ name: 'a', kind: 'A', namespaced: true, ...wrong }] },
    })),
  ];
  api.rule(() => answers.shift());
  t.match(await thrownBy(discovery.kinds('v1', limits)), { kind: 'busy' });
  t.equal((await discovery.kinds('v1', limits)).size, 1);
  for (const _ of ['name', 'kind', 'namespaced', 'verbs']) {
    discovery.forget('v1');
    t.match(await thrownBy(discovery.kinds('v1', limits)), {
      message: /^GET \/api\/v1: the answer is not as expected: /,
    });
  }
});

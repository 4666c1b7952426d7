/** Routes that move with the domain, as requests. */
import t, { type Test } from 'tap';
import { moveRoutes, routesToMove } from '../../../../lib/relocation/site-openshift/move-routes.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { FACTORY, plain, startSiteApi } from './site-api.ts';

const OLD = `apps.${FACTORY}`;
const NEW = 'apps.sno.site.test';
const domains = { former: [FACTORY], site: 'sno.site.test' };
const ROUTES = (namespace: string) => `/apis/route.openshift.io/v1/namespaces/${namespace}/routes`;

const route = (namespace: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'route.openshift.io/v1',
  kind: 'Route',
  metadata: { namespace, name, ...metadata },
  spec: { to: { kind: 'Service', name }, ...spec },
});
const generated = { annotations: { 'openshift.io/host.generated': 'true' } };

const GIVEN = [
  route('openshift-console', 'console', { host: `console.${OLD}` }),
  route('openshift-monitoring', 'thanos-querier', { host: `thanos.${OLD}` }, generated),
  route('shop', 'hand', { host: `shop.${OLD}`, path: '/till', wildcardPolicy: 'None' }),
  route(
    'shop',
    'own',
    { host: `own.${OLD}`, tls: { termination: 'edge', certificate: 'PEM' } },
    generated,
  ),
  route('shop', 'public', { host: 'shop.example.com', tls: null }),
  route('shop', 'sub', { subdomain: 'sub' }),
];

async function started(t: Test) {
  const it = await startSiteApi(t, GIVEN);
  const said: string[] = [];
  const move = () => moveRoutes(it.client, domains, it.limits, (text) => said.push(text));
  const missing = async () =>
    (await routesToMove(it.client, domains, it.limits)).flatMap(({ call }) => call ?? []);
  return { ...it, said, move, missing };
}

const MOVED = [
  GIVEN[0],
  route('shop', 'hand', { host: `shop.${NEW}`, path: '/till', wildcardPolicy: 'None' }),
  route(
    'shop',
    'own',
    { host: `own.${NEW}`, tls: { termination: 'edge', certificate: 'PEM' } },
    generated,
  ),
  GIVEN[4],
  route('shop', 'sub', { subdomain: 'sub', host: `sub.${NEW}` }),
];
const WRITES = [
  `DELETE ${ROUTES('openshift-monitoring')}/thanos-querier`,
  `PATCH ${ROUTES('shop')}/hand`,
  `PATCH ${ROUTES('shop')}/own`,
  `PATCH ${ROUTES('shop')}/sub`,
];

t.test('each Route has its host, and of each it is said what became of it', async (t) => {
  const { move, missing, writes, state, said } = await started(t);
  t.equal((await missing()).length, WRITES.length);
  await move();
  t.strictSame(writes(), WRITES);
  t.strictSame(Object.values(state()), MOVED);
  t.strictSame(said, [
    `Route openshift-console/console stays at console.${OLD}: its operator follows componentRoutes, and redirects from this name`,
    'Route openshift-monitoring/thanos-querier is deleted, so that its operator makes it in the new domain',
    `Route shop/hand moves from shop.${OLD} to shop.${NEW}; its host was set by hand`,
    `Route shop/own moves from own.${OLD} to own.${NEW}; it shows a certificate of its own, which does not name the new host`,
    `Route shop/sub moves from subdomain sub to sub.${NEW}; its host was set by hand`,
  ]);
  t.strictSame(await missing(), []);
  await move();
  t.strictSame(writes(), [], 'again');
});

t.test('killed behind each, it goes on with the next one', async (t) => {
  const { move, writes, state, api } = await started(t);
  const made: string[] = [];
  for (const _ of WRITES) {
    api.endAfter(1);
    t.match(await thrownBy(move()), { kind: 'unreachable' });
    made.push(...writes());
  }
  t.strictSame(made, WRITES);
  api.endAfter(Number.POSITIVE_INFINITY);
  await move();
  t.strictSame(Object.values(state()), MOVED);
});

t.test(
  'a Route that somebody changes in between stays as it is, and is not said to move',
  async (t) => {
    for (const request of WRITES) {
      const { move, api, said } = await started(t);
      const [, path = ''] = request.split(' ');
      const found = api.get(path);
      if (found === undefined) throw new Error(path);
      const changed = {
        ...found,
        spec: { to: { kind: 'Service', name: 'x' }, host: `new.${OLD}` },
      };
      api.rule((each) => {
        if (each.method !== 'GET' && each.path === path) api.set(path, changed);
        return undefined;
      });
      t.match(await thrownBy(move()), { kind: 'conflict', message: `${request}: 409` });
      t.strictSame(plain(api.get(path)), plain(changed));
      t.notMatch(said.at(-1), path.replace(/.*\/(\w+)\/routes\/(.*)/, 'Route $1/$2 '));
    }
  },
);

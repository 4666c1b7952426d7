import t from 'tap';
import type { Route } from '../../../../lib/relocation/site-openshift/resources.ts';
import { judgeRoutes, type RouteChange } from '../../../../lib/relocation/site-openshift/routes.ts';

const domains = { former: ['sno.factory.test', 'sno.before.test'], site: 'sno.site.test' };

interface Given {
  readonly namespace?: string;
  readonly name?: string;
  readonly metadata?: Partial<Route['metadata']>;
  readonly spec: Route['spec'];
}

const route = ({ namespace = 'shop', name = 'web', metadata, spec }: Given): Route => ({
  metadata: { namespace, name, ...metadata },
  spec,
});

const generated = { annotations: { 'openshift.io/host.generated': 'true' } };
const moved = (host: string, ...notes: string[]): RouteChange => ({ kind: 'moved', host, notes });
const byHand = 'its host was set by hand';
const ownCertificate = 'it shows a certificate of its own, which does not name the new host';
const old = 'web.apps.sno.factory.test';
const long = 'a'.repeat(63);

const cases: readonly (readonly [what: string, given: Given, change: Partial<RouteChange>])[] = [
  ['set by hand', { spec: { host: old } }, moved('web.apps.sno.site.test', byHand)],
  ['generated', { metadata: generated, spec: { host: old } }, moved('web.apps.sno.site.test')],
  [
    'of the site before',
    { spec: { host: 'web.apps.sno.before.test' } },
    moved('web.apps.sno.site.test', byHand),
  ],
  ['beside apps', { spec: { host: 'till.sno.factory.test' } }, moved('till.sno.site.test', byHand)],
  [
    'with its own certificate',
    { metadata: generated, spec: { host: old, tls: { certificate: 'PEM' } } },
    moved('web.apps.sno.site.test', ownCertificate),
  ],
  [
    'with a certificate of a Secret',
    { metadata: generated, spec: { host: old, tls: { externalCertificate: { name: 'own' } } } },
    moved('web.apps.sno.site.test', ownCertificate),
  ],
  [
    'a subdomain',
    { metadata: generated, spec: { subdomain: 'web' } },
    moved('web.apps.sno.site.test'),
  ],
  ['at the site', { spec: { host: 'web.apps.sno.site.test' } }, { kind: 'elsewhere' }],
  ['of another domain', { spec: { host: 'www.example.com' } }, { kind: 'elsewhere' }],
  ['that only ends alike', { spec: { host: 'web.notsno.factory.test' } }, { kind: 'elsewhere' }],
  ['without a host', { spec: {} }, { kind: 'elsewhere' }],
  ['with an empty host', { spec: { host: '' } }, { kind: 'elsewhere' }],
  [
    'that is being deleted',
    { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: { host: old } },
    { kind: 'elsewhere' },
  ],
  [
    'of an Ingress',
    { metadata: { ownerReferences: [{ kind: 'Ingress' }] }, spec: { host: old } },
    { kind: 'stays', why: 'it is made from an Ingress, and follows it' },
  ],
  [
    'that something else owns',
    { metadata: { ownerReferences: [{ kind: 'Shop' }] }, spec: { host: old } },
    moved('web.apps.sno.site.test', byHand),
  ],
  [
    "somebody's beside those of monitoring",
    { namespace: 'openshift-monitoring', name: 'grafana', spec: { host: old } },
    moved('web.apps.sno.site.test', byHand),
  ],
  [
    "somebody's with a name of monitoring",
    { name: 'thanos-querier', spec: { host: old } },
    moved('web.apps.sno.site.test', byHand),
  ],
  ['of the console', { namespace: 'openshift-console', spec: { host: old } }, { kind: 'stays' }],
  ['of OAuth', { namespace: 'openshift-authentication', spec: { host: old } }, { kind: 'stays' }],
  [
    'of the canary',
    { namespace: 'openshift-ingress-canary', name: 'canary', spec: { subdomain: 'canary' } },
    { kind: 'stays', why: 'it checks the domain of the installation' },
  ],
];

for (const [what, given, change] of cases) {
  t.test(`a Route ${what}`, async (t) => {
    const [judged] = judgeRoutes([route(given)], domains);
    t.match(judged?.change, change);
    if (change.kind === 'moved') t.same(judged?.change, change);
  });
}

t.test('a Route that its operator makes again in the new domain', async (t) => {
  for (const object of [
    'openshift-monitoring/alertmanager-main',
    'openshift-monitoring/prometheus-k8s',
    'openshift-monitoring/prometheus-k8s-federate',
    'openshift-monitoring/thanos-querier',
    'openshift-user-workload-monitoring/federate',
    'openshift-user-workload-monitoring/thanos-ruler',
    'openshift-image-registry/default-route',
  ]) {
    const [namespace = '', name = ''] = object.split('/');
    const [judged] = judgeRoutes([route({ namespace, name, spec: { host: old } })], domains);
    t.same(judged?.change, { kind: 'made-again' }, object);
  }
});

t.test('a name that gets too long', async (t) => {
  const deep = { ...domains, site: `sno.${long}.${long}.test` };
  const host = `${long}.${long}.apps.sno.factory.test`;
  const [judged] = judgeRoutes([route({ spec: { host } })], deep);
  t.match(judged?.change, { kind: 'stays', why: /no DNS name/ });
});

t.test('a name that gets as long as a name can be, and one that gets longer', async (t) => {
  const site = `${[long, long, long].join('.')}.test`;
  const moveTo = (length: number) => {
    const label = 'a'.repeat(length - site.length - '.apps.'.length);
    const host = `${label}.apps.sno.factory.test`;
    return judgeRoutes([route({ spec: { host } })], { ...domains, site })[0]?.change;
  };
  const change = moveTo(253);
  t.equal(change?.kind === 'moved' && change.host.length, 253);
  t.match(moveTo(254), { kind: 'stays', why: /no DNS name/ });
});

t.test('a name that another Route has', async (t) => {
  for (const path of ['', '/till']) {
    const place = { host: 'web.apps.sno.site.test', ...(path === '' ? {} : { path }) };
    const there = route({ namespace: 'other', spec: place });
    const given = [route({ spec: { ...place, host: old } }), there];
    const [first, second] = judgeRoutes(given, domains);
    const why = `web.apps.sno.site.test${path} belongs to other/web`;
    t.same(first?.change, { kind: 'stays', why });
    t.same(second?.change, { kind: 'elsewhere' });
  }

  const paths = [{ path: '/a' }, { path: '/b' }, { path: '/a' }].map((path, at) =>
    route({
      name: `web-${at}`,
      spec: { host: `web.apps.sno.${['factory', 'before', 'before'][at]}.test`, ...path },
    }),
  );
  t.same(
    judgeRoutes(paths, domains).map(({ change }) => change.kind),
    ['moved', 'moved', 'stays'],
    'by host and path',
  );
});

t.test('domains in one another', async (t) => {
  const change = (host: string, former: string, site: string) =>
    judgeRoutes([route({ spec: { host } })], { former: [former], site })[0]?.change;
  const [inner, outer] = ['sno.shop.test', 'shop.test'];
  t.match(change('web.sno.shop.test', outer, inner), { kind: 'elsewhere' });
  t.match(change('web.shop.test', outer, inner), { host: 'web.sno.shop.test' });
  t.match(change('web.sno.shop.test', inner, outer), { host: 'web.shop.test' });
  t.match(change('web.shop.test', inner, outer), { kind: 'elsewhere' });
});

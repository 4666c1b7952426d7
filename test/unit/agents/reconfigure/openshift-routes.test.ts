/** The step `routes` of OpenShift: Routes and Ingresses move once openshift-apiserver knows the domain of the site. */
import t, { type Test } from 'tap';
import { routes } from '../../../../agents/reconfigure/openshift/routes.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { condition, INSTALLED } from '../../relocation/site-openshift/installed-objects.ts';
import { plain, startSiteApi } from '../../relocation/site-openshift/site-api.ts';
import { siteContext, stoppedAtEachRequest } from './openshift-step.ts';

const OLD = 'apps.sno.factory.test';
const BEFORE = 'apps.sno.before.test';
const NEW = 'apps.sno.site.test';
const SITE = 'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/web/ingresses';
const ROUTES = '/apis/route.openshift.io/v1/namespaces/shop/routes';
const OPERATOR = 'openshift-apiserver';

const route = (name: string, host: string) => ({
  apiVersion: 'route.openshift.io/v1',
  kind: 'Route',
  metadata: { namespace: 'shop', name },
  spec: { host, to: { kind: 'Service', name } },
});
const ingress = (name: string, host: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { namespace: 'web', name },
  spec: {
    ingressClassName: 'openshift-default',
    rules: [{ host, http: { paths: [] } }, { http: { paths: [] } }],
    tls: [{ hosts: [host, 'www.example.com'], secretName: name }],
  },
});

const GIVEN = [
  route('public', 'shop.example.com'),
  route('till', `till.${OLD}`),
  route('web', `web.${BEFORE}`),
];

async function started(t: Test, { baseDomain = 'before.test', site = SITE } = {}) {
  const it = await startSiteApi(t, [...INSTALLED, ...GIVEN]);
  for (const [name, host] of [
    ['blog', `blog.${OLD}`],
    ['news', `news.${BEFORE}`],
    ['other', 'other.example.com'],
  ] as const) {
    it.api.set(`${INGRESSES}/${name}`, ingress(name, host));
  }
  const former = { clusterName: 'sno', baseDomain };
  const { host, context, said } = await siteContext(t, it.client, { former, site });
  return {
    ...it,
    said,
    /** What openshift-apiserver and its operator say; undefined: nothing. */
    says(observedConfig: object | null | undefined, progressing?: string, message?: string) {
      const operator = 'operator.openshift.io/v1';
      it.put({
        ...{ apiVersion: operator, kind: 'OpenShiftAPIServer', metadata: { name: 'cluster' } },
        spec: { managementState: 'Managed', observedConfig },
      });
      const conditions = [
        condition('Available', 'True', 'it is'),
        ...(progressing === undefined ? [] : [condition('Progressing', progressing, message)]),
      ];
      const metadata = { name: OPERATOR };
      const status = progressing === 'none' ? {} : { conditions };
      it.put({
        ...{ apiVersion: 'config.openshift.io/v1', kind: 'ClusterOperator', metadata, spec: {} },
        status,
      });
    },
    run: (signal?: AbortSignal) => routes.run(context, host.progress(signal)),
    holds: (signal?: AbortSignal) => routes.holds(context, host.progress(signal)),
  };
}

const observing = (subdomain: string) => ({ routingConfig: { subdomain } });

for (const [what, config, progressing, message, reason] of [
  ['nothing was observed', null, 'False', '', `${OPERATOR} gives Routes hosts in no domain`],
  ['no domain was observed', {}, 'False', '', `${OPERATOR} gives Routes hosts in no domain`],
  ['the old one was', observing(OLD), 'False', '', `${OPERATOR} gives Routes hosts in ${OLD}`],
  [
    'it is being rolled out',
    observing(NEW),
    'True',
    'revision 4',
    `${OPERATOR} is being rolled out: revision 4`,
  ],
  [
    'nobody knows whether it is rolled out',
    observing(NEW),
    'Unknown',
    'no pod answers',
    `${OPERATOR} is being rolled out: no pod answers`,
  ],
  [
    'its operator has no such condition',
    observing(NEW),
    undefined,
    '',
    `${OPERATOR} is being rolled out: it says nothing`,
  ],
  [
    'its operator says nothing',
    observing(NEW),
    'none',
    '',
    `${OPERATOR} is being rolled out: it says nothing`,
  ],
] as const) {
  t.test(`nothing moves while ${what}`, async (t) => {
    const { says, run, writes, holds } = await started(t);
    says(config, progressing, message);
    t.strictSame(await run(), { kind: 'not-yet', reason });
    t.strictSame(writes(), []);
    t.equal(await holds(), false);
  });
}

const WRITES = [
  `PATCH ${INGRESSES}/blog`,
  `PATCH ${INGRESSES}/news`,
  `PATCH ${ROUTES}/till`,
  `PATCH ${ROUTES}/web`,
];
const MOVED = {
  [`${INGRESSES}/blog`]: ingress('blog', `blog.${NEW}`),
  [`${INGRESSES}/news`]: ingress('news', `news.${NEW}`),
  [`${INGRESSES}/other`]: ingress('other', 'other.example.com'),
  [`${ROUTES}/public`]: GIVEN[0],
  [`${ROUTES}/till`]: route('till', `till.${NEW}`),
  [`${ROUTES}/web`]: route('web', `web.${NEW}`),
};

t.test('Ingresses, then Routes, of each domain that the node has had; then it holds', async (t) => {
  const { says, run, holds, writes, state, said } = await started(t);
  says(observing(NEW), 'False');
  const before = state();
  t.equal(await holds(), false);
  t.strictSame(writes(), [], 'to look changes nothing');
  t.strictSame(await run(), { kind: 'done' });
  t.strictSame(writes(), WRITES);
  t.strictSame(state(), { ...before, ...MOVED });
  const text = said.join('');
  t.match(text, 'Ingress web/blog: its hosts are in sno.site.test now');
  t.match(text, `Route shop/till moves from till.${OLD} to till.${NEW}; its host was set by hand`);
  t.notMatch(text, 'shop/public');
  t.equal(await holds(), true);
  t.strictSame(await run(), { kind: 'done' });
  t.strictSame(writes(), [], 'again');
});

t.test('told to stop at any request, it gives it up, and goes on with the next run', async (t) => {
  const { says, api, run, holds, state } = await started(t);
  says(observing(NEW), 'False');
  t.ok((await stoppedAtEachRequest(t, api, run)) > 5);
  t.match(state(), MOVED);
  t.ok((await stoppedAtEachRequest(t, api, holds)) > 1);
});

t.test('killed behind each change, it goes on, and ends as it would have', async (t) => {
  const { says, api, run, writes, state, holds } = await started(t);
  says(observing(NEW), 'False');
  const made: string[] = [];
  for (const _ of WRITES) {
    api.endAfter(1);
    t.match(await thrownBy(run()), { name: 'KubeError', kind: 'unreachable' });
    made.push(...writes());
  }
  t.strictSame(made, WRITES);
  api.endAfter(Number.POSITIVE_INFINITY);
  t.match(await run(), { kind: 'done' });
  t.match(state(), MOVED);
  t.equal(await holds(), true);
});

t.test('a Route that stays does not keep the step from holding', async (t) => {
  const { says, run, holds, put, said } = await started(t);
  const console = route('console', `console.${OLD}`);
  put({ ...console, metadata: { namespace: 'openshift-console', name: 'console' } });
  says(observing(NEW), 'False');
  t.match(await run(), { kind: 'done' });
  t.equal(await holds(), true);
  t.match(said.join(''), `Route openshift-console/console stays at console.${OLD}`);
});

t.test('back in the domain of the installation: what is there stays, the rest moves', async (t) => {
  const site = SITE.replace('site.test', 'factory.test');
  const { says, run, writes, api } = await started(t, { site });
  says(observing(OLD), 'False');
  t.match(await run(), { kind: 'done' });
  t.strictSame(writes(), [`PATCH ${INGRESSES}/news`, `PATCH ${ROUTES}/web`]);
  t.strictSame(plain(api.get(`${ROUTES}/web`)), route('web', `web.${OLD}`));
  t.strictSame(plain(api.get(`${INGRESSES}/news`)), ingress('news', `news.${OLD}`));
});

t.test(
  'a subdomain is in the domain of the installation, also of a node that comes back',
  async (t) => {
    const { says, run, writes, put, api } = await started(t, { baseDomain: 'site.test' });
    const { metadata, ...sub } = route('sub', '');
    put({ ...sub, metadata, spec: { subdomain: 'sub', to: { kind: 'Service', name: 'sub' } } });
    says(observing(NEW), 'False');
    t.match(await run(), { kind: 'done' });
    t.ok(writes().includes(`PATCH ${ROUTES}/sub`));
    t.match(api.get(`${ROUTES}/sub`), { spec: { subdomain: 'sub', host: `sub.${NEW}` } });
  },
);

/** Ingress, APIServer, IngressController and Proxy from site to site, on an API that keeps their status apart. */
import t from 'tap';
import { INSTALLED } from './installed-objects.ts';
import { FACTORY, IDENTITY, MINIMAL, placeOf, plain, startSiteApi, TRUST } from './site-api.ts';

const CONFIG = '/apis/config.openshift.io/v1';
const INGRESS = `${CONFIG}/ingresses/cluster`;
const API = `${CONFIG}/apiservers/cluster`;
const PROXY = `${CONFIG}/proxies/cluster`;
const CONTROLLER =
  '/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default';

const at = (domain: string) => MINIMAL.replace('site.test', domain);
const config = (kind: string, spec: object, status?: object) => ({
  apiVersion: 'config.openshift.io/v1',
  kind,
  metadata: { name: 'cluster', generation: 4 },
  spec,
  ...(status === undefined ? {} : { status }),
});
const instead = (...objects: ReturnType<typeof config>[]) => [
  ...INSTALLED.filter((each) => !objects.some((object) => placeOf(object) === placeOf(each))),
  ...objects,
];
const specOf = (object: unknown) => Object(object).spec;

t.test(
  'from site to site, and home: one certificate of the API, and no domain is left',
  async (t) => {
    const status = { componentRoutes: [{ namespace: 'openshift-console', name: 'console' }] };
    const spec = { domain: `apps.${FACTORY}`, requiredHSTSPolicies: [{ domainPatterns: ['a'] }] };
    const before = config('Ingress', spec, status);
    const { carryOut, writes, api } = await startSiteApi(t, instead(before));
    await carryOut(at('site.test'));
    await carryOut(at('other.test'), IDENTITY, [FACTORY, 'sno.site.test']);
    t.strictSame(specOf(api.get(API)).servingCerts.namedCertificates, [
      { names: ['api.sno.other.test'], servingCertificate: { name: 'sno-site-api' } },
    ]);
    const { appsDomain, componentRoutes } = specOf(api.get(INGRESS));
    t.equal(appsDomain, 'apps.sno.other.test');
    t.strictSame(
      componentRoutes.map(({ hostname }: { hostname: string }) => hostname),
      [
        'console-openshift-console.apps.sno.other.test',
        'downloads-openshift-console.apps.sno.other.test',
        'oauth-openshift.apps.sno.other.test',
      ],
    );
    writes();
    await carryOut(at('factory.test'), IDENTITY, [FACTORY, 'sno.other.test']);
    t.strictSame(writes(), [`PUT ${INGRESS}`, `PUT ${API}`]);
    t.strictSame(plain(api.get(INGRESS)), before, 'as it was installed, with its status');
    t.strictSame(specOf(api.get(API)).servingCerts.namedCertificates, [
      { names: ['api.sno.factory.test'], servingCertificate: { name: 'sno-site-api' } },
    ]);
  },
);

t.test('what somebody else has in these objects stays', async (t) => {
  const public_ = { names: ['api.public.test'], servingCertificate: { name: 'public' } };
  const git = { namespace: 'gitops', name: 'server', hostname: `git.apps.${FACTORY}` };
  const { carryOut, api } = await startSiteApi(
    t,
    instead(
      config('APIServer', {
        audit: { profile: 'None' },
        clientCA: { name: 'clients' },
        servingCerts: { namedCertificates: [public_] },
      }),
      config('Ingress', { domain: `apps.${FACTORY}`, componentRoutes: [git] }),
    ),
  );
  await carryOut(MINIMAL);
  t.strictSame(specOf(api.get(API)), {
    audit: { profile: 'None' },
    clientCA: { name: 'clients' },
    servingCerts: {
      namedCertificates: [
        { names: ['api.sno.site.test'], servingCertificate: { name: 'sno-site-api' } },
        public_,
      ],
    },
  });
  const { componentRoutes } = specOf(api.get(INGRESS));
  t.strictSame(componentRoutes.slice(3), [{ ...git, hostname: 'git.apps.sno.site.test' }]);
  t.strictSame(specOf(api.get(CONTROLLER)), {
    replicas: 1,
    defaultCertificate: { name: 'sno-site-ingress' },
  });
});

const EARLIER = {
  httpProxy: 'http://earlier.test:1',
  httpsProxy: 'http://earlier.test:2',
  noProxy: '.earlier.test',
  readinessEndpoints: ['http://ready.test'],
  trustedCA: { name: 'of-somebody' },
};
const trust = `additionalTrustBundle: {userCaBundle: ${JSON.stringify(TRUST)}}\n`;
const { readinessEndpoints, trustedCA } = EARLIER;
/** What operators dial themselves. */
const OWN = '.sno.site.test';

for (const [what, more, wanted] of [
  ['neither a proxy nor trust', '', EARLIER],
  [
    'HTTP alone',
    'proxy: {httpProxy: "http://a.test:1"}\n',
    { readinessEndpoints, trustedCA, httpProxy: 'http://a.test:1', noProxy: OWN },
  ],
  [
    'HTTPS alone',
    'proxy: {httpsProxy: "http://b.test:2", noProxy: .c.test}\n',
    { readinessEndpoints, trustedCA, httpsProxy: 'http://b.test:2', noProxy: `.c.test,${OWN}` },
  ],
  ['trust alone', trust, { ...EARLIER, trustedCA: { name: 'user-ca-bundle' } }],
  [
    'both, and what the proxy shows is trusted',
    `proxy: {httpProxy: "http://a.test:1"}\n${trust}`,
    {
      readinessEndpoints,
      trustedCA: { name: 'user-ca-bundle' },
      httpProxy: 'http://a.test:1',
      noProxy: OWN,
    },
  ],
] as const) {
  t.test(`a site with ${what}`, async (t) => {
    const { carryOut, writes, api } = await startSiteApi(t, instead(config('Proxy', EARLIER)));
    const text = `${MINIMAL}${more === '' ? '' : 'allowRestart: true\n'}${more}`;
    await carryOut(text);
    t.equal(writes().includes(`PUT ${PROXY}`), more !== '');
    t.strictSame(specOf(api.get(PROXY)), wanted);
    await carryOut(text);
    t.strictSame(writes(), [], 'again');
  });
}

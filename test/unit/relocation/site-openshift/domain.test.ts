import t from 'tap';
import {
  siteApiServer,
  siteIngress,
  siteIngressController,
  whyElsewhere,
} from '../../../../lib/relocation/site-openshift/domain.ts';
import { siteProxy } from '../../../../lib/relocation/site-openshift/site-writes.ts';

const metadata = { name: 'cluster' };
const domains = { former: ['sno.factory.test'], site: 'sno.site.test' };
const found = { metadata, spec: { domain: 'apps.sno.factory.test', requiredHSTSPolicies: [] } };

t.test(
  'Ingress: new Routes and those of the components are in the domain of the site',
  async (t) => {
    const { spec } = siteIngress(found, domains);
    t.match(spec, { domain: 'apps.sno.factory.test', appsDomain: 'apps.sno.site.test' });
    t.same(spec.requiredHSTSPolicies, []);
    t.same(
      spec.componentRoutes?.map(
        ({ namespace, name, hostname }) => `${namespace}/${name} ${hostname}`,
      ),
      [
        'openshift-console/console console-openshift-console.apps.sno.site.test',
        'openshift-console/downloads downloads-openshift-console.apps.sno.site.test',
        'openshift-authentication/oauth-openshift oauth-openshift.apps.sno.site.test',
      ],
    );
    t.same(siteIngress(siteIngress(found, domains), domains), siteIngress(found, domains), 'again');
  },
);

t.test('Ingress: the operators are where the site wants them', async (t) => {
  const wanted = siteIngress(found, domains);
  const [console = '', , oauth = ''] =
    wanted.spec.componentRoutes?.map(({ hostname }) => hostname) ?? [];
  const said = (...all: [namespace: string, name: string, ...hosts: string[]][]) =>
    whyElsewhere({
      ...wanted,
      status: {
        componentRoutes: all.map(([namespace, name, ...currentHostnames]) => ({
          ...{ namespace, name, currentHostnames },
        })),
      },
    });
  t.equal(whyElsewhere(wanted), undefined, 'no operator publishes one');
  t.equal(said(['openshift-console', 'console', 'old', console]), undefined, 'beside the old one');
  t.match(
    said(['openshift-console', 'console', 'old']),
    `console is at old, not yet at ${console}`,
  );
  t.match(said(['openshift-console', 'console']), 'is at no name');
  const both = said(
    ['openshift-console', 'console', console],
    ['openshift-authentication', 'oauth-openshift', 'old'],
  );
  t.match(both, `oauth-openshift is at old, not yet at ${oauth}`);
  t.equal(said(['gitops', 'console', 'old']), undefined, 'of another namespace');
});

t.test("Ingress: somebody's component routes", async (t) => {
  const own = { namespace: 'openshift-console', name: 'console', hostname: 'old.sno.factory.test' };
  const other = { namespace: 'gitops', name: 'server', hostname: 'git.apps.sno.factory.test' };
  const far = { namespace: 'gitops', name: 'far', hostname: 'git.example.com' };
  const alike = { ...far, name: 'console' };
  const before = { ...found, spec: { ...found.spec, componentRoutes: [own, other, far, alike] } };
  const { componentRoutes = [] } = siteIngress(before, domains).spec;
  t.equal(componentRoutes.length, 6);
  const moved = { ...other, hostname: 'git.apps.sno.site.test' };
  t.same(componentRoutes.slice(3), [moved, far, alike]);
});

t.test('Ingress: back in the domain of the installation, only it is left', async (t) => {
  const home = { former: ['sno.factory.test', 'sno.site.test'], site: 'sno.factory.test' };
  t.same(siteIngress(siteIngress(found, domains), home), found);
});

t.test("APIServer: the site's certificate is first, others stay", async (t) => {
  const others = { names: ['api.public.test'], servingCertificate: { name: 'public' } };
  const earlier = { names: ['api.sno.before.test'], servingCertificate: { name: 'sno-site-api' } };
  const taken = { names: ['api.sno.site.test'], servingCertificate: { name: 'by-hand' } };
  const servingCerts = { namedCertificates: [earlier, others, taken], later: 'a field' };
  const spec = { audit: {}, servingCerts };
  t.same(siteApiServer({ metadata, spec }, domains).spec, {
    audit: {},
    servingCerts: {
      namedCertificates: [
        { names: ['api.sno.site.test'], servingCertificate: { name: 'sno-site-api' } },
        others,
      ],
      later: 'a field',
    },
  });
  t.equal(siteApiServer({ metadata }, domains).spec?.servingCerts?.namedCertificates?.length, 1);
});

t.test('IngressController: its other fields stay', async (t) => {
  t.same(siteIngressController({ metadata, spec: { replicas: 1 } }).spec, {
    replicas: 1,
    defaultCertificate: { name: 'sno-site-ingress' },
  });
});

t.test('Proxy: that of the site replaces the earlier one', async (t) => {
  const before = { metadata, spec: { httpProxy: 'http://old', noProxy: '.old', readiness: 1 } };
  const site = {
    clusterName: 'edge',
    baseDomain: 'shop.test',
    machineNetworks: ['198.51.100.0/24'],
    additionalTrustBundle: undefined,
  };
  const proxy = { httpProxy: undefined, httpsProxy: 'http://new', noProxy: '' };
  t.same(siteProxy(before, { ...site, proxy }).spec, {
    httpsProxy: 'http://new',
    noProxy: '.edge.shop.test,198.51.100.0/24',
    readiness: 1,
  });
  const both = { httpProxy: 'http://new', httpsProxy: 'http://secure' };
  const noProxyOf = (noProxy: string) =>
    siteProxy(before, { ...site, proxy: { ...both, noProxy } }).spec?.noProxy;
  t.equal(noProxyOf('.new'), '.new,.edge.shop.test,198.51.100.0/24');
  t.equal(noProxyOf('.new,.edge.shop.test'), '.new,.edge.shop.test,198.51.100.0/24', 'each once');
  t.equal(noProxyOf('*'), '*', 'nothing uses the proxy');
  t.same(siteProxy(before, { ...site, proxy: undefined, additionalTrustBundle: 'PEM' }).spec, {
    ...before.spec,
    trustedCA: { name: 'user-ca-bundle' },
  });
});

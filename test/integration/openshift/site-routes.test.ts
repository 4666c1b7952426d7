/**
 * Routes and Ingresses that move with the domain, by the agent's own step, on OpenShift's API server with the definition
 * of Route. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: test/unit/relocation/site-openshift/move-routes.test.ts, and the step in
 * test/unit/agents/reconfigure/openshift-routes.test.ts.
 */
import t from 'tap';
import { stringify } from 'yaml';
import { routes } from '../../../agents/reconfigure/openshift/routes.ts';
import { objectSchema } from '../../../lib/clients/kube/resources.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import { stepOn } from '../../unit/agents/reconfigure/openshift-step.ts';
import { notBuilt, startSiteCluster } from './site-cluster.ts';

const LIFETIME_MS = 300_000;
const skip = await notBuilt();
const OLD = 'apps.sno.factory.test';
const NEW = 'apps.sno.site.test';

const route = (namespace: string, name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'route.openshift.io/v1',
  kind: 'Route',
  metadata: { namespace, name, ...metadata },
  spec: { to: { kind: 'Service', name }, ...spec },
});

const given = [
  route('shop', 'hand', { host: `shop.${OLD}` }),
  route(
    'shop',
    'generated',
    { host: `generated-shop.${OLD}` },
    {
      annotations: { 'openshift.io/host.generated': 'true' },
    },
  ),
  route('shop', 'public', { host: 'shop.example.com' }),
  route('shop', 'sub', { subdomain: 'sub' }),
  route('shop', 'wild', { host: `wild.${OLD}`, wildcardPolicy: 'Subdomain' }),
  route('web', 'taken', { host: `taken.${NEW}` }),
  route('shop', 'taken', { host: `taken.${OLD}` }),
  route('openshift-monitoring', 'prometheus-k8s', { host: `prometheus.${OLD}` }),
  route('openshift-console', 'console', { host: `console-openshift-console.${OLD}` }),
  route('openshift-ingress-canary', 'canary', { subdomain: 'canary-openshift-ingress-canary' }),
];

const ingress = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { namespace: 'web', name: 'blog' },
  spec: {
    rules: [{ host: `blog.${OLD}` }],
    tls: [{ hosts: [`blog.${OLD}`], secretName: 'blog' }],
  },
};

t.test('Routes of a site', { skip, timeout: LIFETIME_MS }, async (t) => {
  const cluster = await startSiteCluster(t, LIFETIME_MS);
  const { admin, limits, apply, openShiftApiServerSays } = cluster;
  await apply('routes', [...given, ingress].map((each) => stringify(each)).join('---\n'));
  const step = await stepOn(t, routes, admin, {
    former: { clusterName: 'sno', baseDomain: 'factory.test' },
    site: 'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n',
  });
  const hosts = async () => {
    const { items } = await admin.list(openShiftResources.routes, {}, limits);
    return Object.fromEntries(
      items.map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec.host]),
    );
  };
  const before = await hosts();

  await t.test('not before the API gives Routes hosts there', async (t) => {
    t.match(await step.run(), { kind: 'not-yet', reason: `gives Routes hosts in ${OLD}` });
    t.same(await hosts(), before);
    await openShiftApiServerSays(NEW, 'True', 'revision 4');
    t.match(await step.run(), { kind: 'not-yet', reason: /rolled out: revision 4/ });
    t.same(await hosts(), before);
    await openShiftApiServerSays(NEW, 'False');
  });

  await t.test('each has its host', async (t) => {
    t.notOk(await step.holds());
    t.match(await step.run(), { kind: 'done' });
    t.same(await hosts(), {
      'shop/hand': `shop.${NEW}`,
      'shop/generated': `generated-shop.${NEW}`,
      'shop/public': 'shop.example.com',
      'shop/sub': `sub.${NEW}`,
      'shop/wild': `wild.${NEW}`,
      'web/taken': `taken.${NEW}`,
      'shop/taken': `taken.${OLD}`,
      'openshift-console/console': `console-openshift-console.${OLD}`,
      'openshift-ingress-canary/canary': undefined,
    });
    const ingresses = {
      apiVersion: 'networking.k8s.io/v1',
      plural: 'ingresses',
      schema: objectSchema,
    };
    t.match((await admin.get(ingresses, { namespace: 'web', name: 'blog' }, limits)).spec, {
      rules: [{ host: `blog.${NEW}` }],
      tls: [{ hosts: [`blog.${NEW}`] }],
    });
    const said = step.said.join('\n');
    t.match(
      said,
      `Route shop/hand moves from shop.${OLD} to shop.${NEW}; its host was set by hand`,
    );
    t.match(said, `Route shop/taken stays at taken.${OLD}: taken.${NEW} belongs to web/taken`);
    t.match(said, 'Route openshift-monitoring/prometheus-k8s is deleted');
  });

  await t.test('again, also when the operator has made its Route: nothing moves', async (t) => {
    await apply(
      'monitoring',
      stringify(route('openshift-monitoring', 'prometheus-k8s', { host: `prometheus.${NEW}` })),
    );
    t.ok(await step.holds());
    const versions = async () =>
      (await admin.list(openShiftResources.routes, {}, limits)).items.map(
        ({ metadata }) => metadata.resourceVersion,
      );
    const earlier = await versions();
    await step.run();
    t.same(await versions(), earlier);
  });
});

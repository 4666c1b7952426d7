/** The step `objects` of OpenShift: the objects of the site, the labels of its Node, its manifests. */
import t, { type Test } from 'tap';
import {
  siteCertificatesOnOpenShift,
  siteIdentity,
} from '../../../../agents/reconfigure/openshift/certificates.ts';
import { siteObjectsOnOpenShift } from '../../../../agents/reconfigure/openshift/objects.ts';
import { readDeferred } from '../../../../lib/cluster/deferred/manifests.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { INSTALLED } from '../../relocation/site-openshift/installed-objects.ts';
import { base64, placeOf, plain, startSiteApi } from '../../relocation/site-openshift/site-api.ts';
import { siteContext, stoppedAtEachRequest } from './openshift-step.ts';

const NODE = '/api/v1/nodes/edge-0';
const EXTRA = '/api/v1/namespaces/shop/configmaps/extra';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SITE =
  'api_version: 1\ncluster_name: sno\nbase_domain: site.test\nnode_labels: {site: "7"}\n';
const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: extra}
data: {a: b}
`;
const LATER = '---\napiVersion: fast.site.test/v1\nkind: Fast\nmetadata: {name: one}\n';

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'edge-0', labels: { site: '6', 'kubernetes.io/os': 'linux' } },
};
const namespaced = (name: string, kind: string) => ({ name, kind, namespaced: true });
const clusterScoped = (name: string, kind: string) => ({ name, kind, namespaced: false });
const SERVED: Readonly<Record<string, object>> = {
  '/api/v1': { resources: [namespaced('configmaps', 'ConfigMap')] },
  [RBAC]: {
    resources: [
      clusterScoped('clusterroles', 'ClusterRole'),
      clusterScoped('clusterrolebindings', 'ClusterRoleBinding'),
      namespaced('roles', 'Role'),
      namespaced('rolebindings', 'RoleBinding'),
    ],
  },
};

/** A cluster that was installed as sno.factory.test and comes from the site sno.before.test. */
async function started(t: Test, { site = SITE, manifests = MANIFEST, given = INSTALLED } = {}) {
  const it = await startSiteApi(t, [...given, node]);
  it.api.rule(({ method, path }) => {
    const body = method === 'GET' ? SERVED[path] : undefined;
    return body === undefined ? undefined : { code: 200, body };
  });
  const former = { clusterName: 'sno', baseDomain: 'before.test' };
  const { host, context, said } = await siteContext(t, it.client, { former, site, manifests });
  return {
    ...it,
    host,
    context,
    said,
    certify: () => siteCertificatesOnOpenShift.run(context, host.progress()),
    run: (signal?: AbortSignal) => siteObjectsOnOpenShift.run(context, host.progress(signal)),
    holds: (signal?: AbortSignal) => siteObjectsOnOpenShift.holds(context, host.progress(signal)),
  };
}

/** Of a site that brings nothing: in this order. */
const ORDER = [
  'POST /api/v1/namespaces/openshift-config/secrets',
  'POST /api/v1/namespaces/openshift-config/secrets',
  'POST /api/v1/namespaces/openshift-ingress/secrets',
  'PUT /apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default',
  'PUT /apis/config.openshift.io/v1/ingresses/cluster',
  'PUT /apis/config.openshift.io/v1/apiservers/cluster',
  'PUT /api/v1/namespaces/openshift-config/configmaps/admin-kubeconfig-client-ca',
  `PATCH ${NODE}`,
  `PATCH ${EXTRA}`,
];

t.test('without the certificates of the site nothing is written', async (t) => {
  const { run, holds, writes } = await started(t);
  const missing = { kind: 'fatal', message: /certificates of the site's names do not exist/ };
  t.match(await thrownBy(run()), missing);
  t.match(await thrownBy(holds()), missing);
  t.strictSame(writes(), []);
});

t.test(
  'the objects, then the Node, then the manifests; it holds, and again nothing changes',
  async (t) => {
    const { api, context, certify, run, holds, writes, state, said } = await started(t);
    await certify();
    t.equal(await holds(), false);
    t.strictSame(writes(), [], 'to look changes nothing');
    t.strictSame(await run(), { kind: 'done', note: '7 objects changed, 1 manifests' });
    t.strictSame(writes(), ORDER);
    t.match(said.join(''), 'Secret openshift-config/sno-site-api: as the site wants it');
    t.strictSame(plain(api.get(NODE)), {
      ...node,
      metadata: { ...node.metadata, labels: { site: '7', 'kubernetes.io/os': 'linux' } },
    });
    t.match(plain(api.get(EXTRA)), { metadata: { namespace: 'shop' }, data: { a: 'b' } });
    const identity = await siteIdentity(context);
    if (identity === undefined) throw new Error('no certificates');
    const [secrets, bundles] = ['secrets', 'configmaps'].map(
      (plural) => `/api/v1/namespaces/openshift-config/${plural}`,
    );
    t.match(api.get(`${secrets}/sno-site-api`), { data: { 'tls.key': base64(identity.api.key) } });
    t.match(api.get(`${secrets}/sno-site-ingress`), {
      data: { 'tls.crt': base64(identity.ingress.certificate) },
    });
    t.match(api.get(`${bundles}/admin-kubeconfig-client-ca`), {
      data: { 'ca-bundle.crt': identity.administrators },
    });
    t.equal(await holds(), true);
    const before = [...api.all().values()].map(({ metadata }) => metadata.resourceVersion);
    const objectsBefore = state();
    t.strictSame(await run(), { kind: 'done', note: '0 objects changed, 1 manifests' });
    t.strictSame(state(), objectsBefore);
    const after = [...api.all().values()].map(({ metadata }) => metadata.resourceVersion);
    t.strictSame(after.slice(0, -1), before.slice(0, -1));
  },
);

t.test('an object that somebody changes back: it does not hold any more', async (t) => {
  const { certify, run, holds, put } = await started(t);
  await certify();
  await run();
  for (const object of INSTALLED.filter(({ kind }) => kind === 'Ingress')) put(object);
  t.equal(await holds(), false);
  t.match(await run(), { note: '1 objects changed, 1 manifests' });
  t.equal(await holds(), true);
});

t.test('certificates of another request are not written', async (t) => {
  const { host, context, certify, writes } = await started(t);
  await certify();
  const request = { ...context.request, id: '11111111-1111-4111-8111-111111111111' };
  const other = siteObjectsOnOpenShift.run({ ...context, request }, host.progress());
  t.match(await thrownBy(other), { kind: 'fatal', message: /certificates of the site's names/ });
  t.strictSame(writes(), []);
});

t.test('told to stop at any request, it gives it up, and goes on with the next run', async (t) => {
  const { api, certify, run, holds, state } = await started(t);
  await certify();
  t.ok((await stoppedAtEachRequest(t, api, run)) > 10);
  const ended = state();
  t.ok((await stoppedAtEachRequest(t, api, holds)) > 5);
  t.equal(await holds(), true);
  t.strictSame(state(), ended);
});

t.test('killed behind each change, it goes on, and ends as it would have', async (t) => {
  const { api, certify, run, writes, state, holds } = await started(t);
  await certify();
  const made: string[] = [];
  for (const _ of ORDER) {
    api.endAfter(1);
    t.match(await thrownBy(run()), { name: 'KubeError', kind: 'unreachable' });
    made.push(...writes().slice(-1));
  }
  t.strictSame(made, ORDER);
  api.endAfter(Number.POSITIVE_INFINITY);
  const before = state();
  t.match(await run(), { kind: 'done', note: '0 objects changed, 1 manifests' });
  t.strictSame(state(), before);
  t.equal(await holds(), true);
});

t.test(
  'names in every domain that the node has had move: of its installation, and before',
  async (t) => {
    const componentRoutes = ['factory', 'before', 'other'].map((domain) => ({
      ...{ namespace: 'gitops', name: domain, hostname: `git.apps.sno.${domain}.test` },
    }));
    const given = INSTALLED.map((each) =>
      each.kind === 'Ingress'
        ? { ...each, spec: { domain: 'apps.sno.factory.test', componentRoutes } }
        : each,
    );
    const { api, certify, run } = await started(t, { given });
    await certify();
    await run();
    const [ingress] = given.filter(({ kind }) => kind === 'Ingress').map(placeOf);
    const { spec } = Object(api.get(ingress ?? ''));
    t.strictSame(
      spec.componentRoutes.slice(3).map(({ hostname }: { hostname: string }) => hostname),
      ['git.apps.sno.site.test', 'git.apps.sno.site.test', 'git.apps.sno.other.test'],
    );
    t.equal(spec.appsDomain, 'apps.sno.site.test');
  },
);

t.test(
  'a Node without labels of the site is not asked for; what nothing serves yet waits',
  async (t) => {
    const site = SITE.replace(/node_labels.*\n/, '');
    const { certify, run, writes, host, said } = await started(t, {
      site,
      manifests: MANIFEST + LATER,
    });
    await certify();
    t.match(await run(), { note: '7 objects changed, 2 manifests' });
    t.strictSame(writes().slice(7), [
      `PATCH ${EXTRA}`,
      `PATCH ${RBAC}/clusterroles/sno-agents%3Adeferred`,
      `PATCH ${RBAC}/clusterrolebindings/sno-agents%3Adeferred`,
      `PATCH ${RBAC}/namespaces/kube-system/roles/sno-agents%3Adeferred`,
      `PATCH ${RBAC}/namespaces/kube-system/rolebindings/sno-agents%3Adeferred`,
      'PATCH /api/v1/namespaces/kube-system/configmaps/sno-deferred',
    ]);
    t.match(await readDeferred(host.paths), [{ manifest: { kind: 'Fast', name: 'one' } }]);
    t.match(said.join(''), /Fast one: waits until fast\.site\.test\/v1 serves it/);
  },
);

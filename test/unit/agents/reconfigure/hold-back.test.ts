/** Manifests of a volume whose kinds are not served yet. */
import { X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import {
  applyOrHoldBack,
  hasHeldBack,
  heldBackPaths,
  holdBack,
  servedNow,
} from '../../../../agents/reconfigure/hold-back.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { readDeferred } from '../../../../lib/cluster/deferred/manifests.ts';
import { readTrial } from '../../../../lib/engine/trial/store.ts';
import { refusal, startFakeApi } from '../../clients/kube/fake-api.ts';
import { arrived } from './site-host.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const { manifests } = decodeManifests(
  'extra-manifests/a.yaml',
  `apiVersion: v1
kind: ConfigMap
metadata: {name: site, namespace: default}
---
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetwork
metadata: {name: fast, namespace: default}
---
apiVersion: served.example.com/v1
kind: Tuned
metadata: {name: one}
`,
);

/** A host whose site has these manifests, and an API that serves only some of them. */
async function site(t: Test) {
  const { host, context, run } = await arrived(t);
  const { api, client } = await startFakeApi(t);
  const kinds: Record<string, { name: string; kind: string; namespaced: boolean }[]> = {
    '/api/v1': [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }],
    '/apis/served.example.com/v1': [{ name: 'tuneds', kind: 'Tuned', namespaced: false }],
    '/apis/rbac.authorization.k8s.io/v1': [
      { name: 'clusterroles', kind: 'ClusterRole', namespaced: false },
      { name: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
      { name: 'roles', kind: 'Role', namespaced: true },
      { name: 'rolebindings', kind: 'RoleBinding', namespaced: true },
    ],
  };
  const applied: string[] = [];
  api.rule(({ method, path, body }) => {
    const resources = kinds[path];
    if (resources !== undefined) return { code: 200, body: { resources } };
    if (method !== 'PATCH') return undefined;
    applied.push(path);
    return { code: 200, body };
  });
  return { host, context: { ...context, manifests }, run, client, api, applied };
}

t.test('what is served is applied, the rest waits', async (t) => {
  const { client } = await site(t);
  const served = await servedNow(client, manifests, limits);
  t.same(
    served.map(({ kind }) => kind),
    ['ConfigMap', 'Tuned'],
  );
});

t.test('whoever watches is told what waits, and for what', async (t) => {
  const { host, context, client, applied } = await site(t);
  const said: string[] = [];
  await applyOrHoldBack(context, client, { say: (text) => void said.push(text) }, limits);
  t.strictSame(said, [
    'SriovNetwork fast: waits until sriovnetwork.openshift.io/v1 serves it (sno-deferred status)',
  ]);
  t.equal((await readDeferred(host.paths)).length, 1);
  t.match(applied.slice(0, 2), [/configmaps\/site$/, /tuneds\/one$/], 'what is served comes first');
});

t.test('what waits is handed to sno-deferred, with rights for its groups only', async (t) => {
  const { host, context, client, applied } = await site(t);
  const waiting = manifests.slice(1, 2);
  const before = await heldBackPaths(context);
  t.equal(await hasHeldBack(host.paths), false);
  await holdBack(context, client, waiting, limits);
  t.match(await readDeferred(host.paths), [{ manifest: { kind: 'SriovNetwork', name: 'fast' } }]);
  t.equal((await readDeferred(host.paths)).length, 1);
  t.equal(await hasHeldBack(host.paths), true);
  t.match(applied, [
    /clusterroles\/sno-agents%3Adeferred$/,
    /clusterrolebindings/,
    /roles/,
    /rolebindings/,
    /configmaps\/sno-deferred$/,
  ]);
  t.match(host.programs.calls('systemctl'), [
    'systemctl enable --no-reload sno-deferred.service',
    'systemctl daemon-reload',
  ]);

  const certificate = new X509Certificate(host.read('/etc/sno-agents/deferred.crt'));
  t.equal(certificate.subject, 'CN=sno-agents:deferred');
  const authority = new X509Certificate(host.read('/etc/kubernetes/pki/ca/admin/ca.crt'));
  t.ok(certificate.checkIssued(authority));
  t.equal(host.mode('/etc/sno-agents/deferred.key'), 0o600);
  t.equal(host.mode('/etc/sno-agents/deferred'), 0o700, 'there may be Secrets in it');
  t.equal(host.mode('/etc/systemd/system/sno-deferred.service'), 0o644);
  t.match(host.read('/etc/sno-agents/deferred.kubeconfig'), /deferred\.crt/);
  const { expires } = JSON.parse(host.read('/var/lib/sno-agents/sno-deferred/expiry.json'));
  t.ok(Date.parse(expires) > Date.now() + 3_600_000);

  const created = [
    '/etc/sno-agents/deferred.crt',
    '/etc/sno-agents/deferred.key',
    '/etc/sno-agents/deferred.kubeconfig',
    '/etc/systemd/system/sno-deferred.service',
    '/usr/local/bin/sno-deferred',
  ];
  for (const path of created) t.ok(before.includes(path), `${path} is taken back with the site`);
  const [{ path } = { path: '' }] = await readDeferred(host.paths);
  t.ok(before.includes(host.paths.onHost(path)));
  t.equal(host.mode(host.paths.onHost(path)), 0o600);

  const key = host.read('/etc/sno-agents/deferred.key');
  await holdBack(context, client, waiting, limits);
  t.equal(host.read('/etc/sno-agents/deferred.key'), key, 'once');
});

t.test('on OpenShift an administrator acts for sno-deferred, and no key is made', async (t) => {
  const { host, context, client } = await site(t);
  const atSite = {
    ...context,
    cluster: { ...context.cluster, controlPlane: 'openshift' as const },
  };
  const before = await heldBackPaths(atSite);
  await holdBack(atSite, client, manifests.slice(1, 2), limits);
  t.equal(await hasHeldBack(host.paths), true);
  for (const name of ['deferred.crt', 'deferred.key', 'deferred.kubeconfig']) {
    t.notOk(host.has(`/etc/sno-agents/${name}`), name);
    t.notOk(before.includes(`/etc/sno-agents/${name}`), name);
  }
  t.ok(before.includes('/etc/systemd/system/sno-deferred.service'));
});

t.test('without its rights nothing is handed over', async (t) => {
  const { host, context, client, api } = await site(t);
  api.rule(({ method }) => (method === 'PATCH' ? refusal(403, { message: 'not yet' }) : undefined));
  await t.rejects(holdBack(context, client, manifests.slice(1, 2), limits), /not yet/);
  t.equal(await hasHeldBack(host.paths), false);
  api.rule(({ path, method }) =>
    method === 'PATCH' && path.includes('/configmaps/')
      ? refusal(422, { message: 'no' })
      : undefined,
  );
  await t.rejects(applyOrHoldBack(context, client, { say: () => {} }, limits));
  t.equal(await hasHeldBack(host.paths), false);
});

t.test('those of an earlier site wait no longer, those of the installation do', async (t) => {
  const { host, context, client } = await site(t);
  const file = (name: string) => ({
    apiVersion: 'x.example.com/v1',
    kind: 'X',
    metadata: { name },
  });
  host.write('/etc/sno-agents/deferred/0001.x.a.json', JSON.stringify(file('a')));
  host.write('/etc/sno-agents/deferred/5003.x.b.json', JSON.stringify(file('b')));
  await holdBack(context, client, [], limits);
  const names = (await readDeferred(host.paths)).map(({ manifest }) => manifest.name);
  t.same(names, ['a']);
});

t.test('the trial takes back what is handed over', async (t) => {
  const { host, context } = await site(t);
  await armSite.run(context, host.progress());
  const trial = await readTrial(host.paths);
  const paths = trial?.points.files.map(({ path }) => path) ?? [];
  t.ok(paths.includes('/etc/systemd/system/sno-deferred.service'));
  t.ok(paths.some((path) => path.endsWith('.sriovnetwork.default.fast.json')));
  t.notOk(paths.some((path) => path.endsWith('.configmap.default.site.json')));
});

/** What waits for its kind is handed over as a whole, wherever that is interrupted. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import { hasHeldBack, holdBack } from '../../../../agents/reconfigure/hold-back.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { readDeferred } from '../../../../lib/cluster/deferred/manifests.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import type { TestHost } from '../host/host.ts';
import { keptHost } from './kept-host.ts';
import { SITE } from './site-host.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const { manifests } = decodeManifests(
  'extra-manifests/a.yaml',
  'apiVersion: late.example.com/v1\nkind: Late\nmetadata: {name: one, namespace: default}\n',
);
const KEY = '/etc/sno-agents/deferred.key';
const KUBECONFIG = '/etc/sno-agents/deferred.kubeconfig';
const EXPIRY = '/var/lib/sno-agents/sno-deferred/expiry.json';
const COMMAND = '/usr/local/bin/sno-deferred';
const KINDS: Readonly<
  Record<string, readonly (readonly [name: string, kind: string, namespaced: boolean])[]>
> = {
  '/api/v1': [['configmaps', 'ConfigMap', true]],
  '/apis/rbac.authorization.k8s.io/v1': [
    ['clusterroles', 'ClusterRole', false],
    ['clusterrolebindings', 'ClusterRoleBinding', false],
    ['roles', 'Role', true],
    ['rolebindings', 'RoleBinding', true],
  ],
};

/** Whether the identity of sno-deferred is one that the API would take. */
function canLogIn(host: TestHost): boolean {
  if (![KEY, KUBECONFIG].every((path) => host.has(path))) return false;
  const certificate = new X509Certificate(host.read('/etc/sno-agents/deferred.crt'));
  return certificate.checkPrivateKey(createPrivateKey(host.read(KEY)));
}

t.test('hold back: the unit is there once it has all that it needs', async (t) => {
  const { keep, again, host } = await keptHost(t, SITE);
  host.write(
    '/etc/sno-agents/deferred/5003.x.b.json',
    '{"apiVersion":"x.example.com/v1","kind":"X","metadata":{"name":"b"}}',
  );
  host.programs.give(
    'systemctl',
    'case "$*" in "enable --no-reload sno-deferred.service") touch "$ROOT/enabled" ;; esac',
  );
  keep();
  const { api, client } = await startFakeApi(t);
  api.rule(({ method, path, body }) => {
    const resources = KINDS[path]?.map(([name, kind, namespaced]) => ({ name, kind, namespaced }));
    if (resources !== undefined) return { code: 200, body: { resources } };
    return method === 'PATCH' ? { code: 200, body } : undefined;
  });
  const names = async () => (await readDeferred(host.paths)).map(({ manifest }) => manifest.name);
  await killedAtAnyMoment(t, {
    prepare: again,
    run: ({ context }) => holdBack({ ...context, manifests }, client, manifests, limits),
    async allowed(_, when) {
      if (!(await hasHeldBack(host.paths))) return;
      t.same(await names(), ['one'], when);
      t.ok(canLogIn(host), `${when}: it can log in`);
      t.ok(host.has(EXPIRY), `${when}: it ends`);
    },
    result: async () => ({
      names: await names(),
      canLogIn: canLogIn(host),
      modes: [KEY, KUBECONFIG, EXPIRY].map((path) => host.mode(path)),
      isEnabled: host.has('/enabled'),
      isRead: host.programs.calls('systemctl').at(-1),
      command: host.has(COMMAND),
    }),
    least: 30,
    isDurable: true,
  });
});

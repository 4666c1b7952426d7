import t from 'tap';
import {
  deferredAccess,
  deferredRole,
  deferredStatus,
} from '../../../../lib/clients/rights/deferred.ts';
import { tieToRole } from '../../../../lib/cluster/deferred/tie-to-role.ts';
import { refusal, startFakeApi } from '../kube/fake-api.ts';

const USER = 'sno-agents:deferred';
const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const apiGroup = 'rbac.authorization.k8s.io';
const user = { apiGroup, kind: 'User', name: USER };
const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };

t.test('the agent may do what it needs and nothing else', async (t) => {
  t.strictSame(deferredAccess(['shop.test', 'bank.test']), [
    {
      ...RBAC,
      kind: 'ClusterRole',
      metadata: { name: USER },
      rules: [
        {
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
          verbs: ['get', 'list', 'watch'],
        },
        {
          apiGroups: ['apiregistration.k8s.io'],
          resources: ['apiservices'],
          verbs: ['get', 'list', 'watch'],
        },
        // Never list, update or delete: other objects in these groups are not the agent's.
        { apiGroups: ['shop.test', 'bank.test'], resources: ['*'], verbs: ['get', 'create'] },
        { apiGroups: ['shop.test', 'bank.test'], resources: ['*/status'], verbs: ['update'] },
        // By name: the right to delete any ClusterRole would allow revoking others' rights.
        {
          apiGroups: [apiGroup],
          resources: ['clusterroles'],
          resourceNames: [USER],
          verbs: ['delete'],
        },
      ],
    },
    {
      ...RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name: USER },
      roleRef: { apiGroup, kind: 'ClusterRole', name: USER },
      subjects: [user],
    },
    {
      ...RBAC,
      kind: 'Role',
      metadata: { namespace: 'kube-system', name: USER },
      rules: [
        // By name: kube-system's other ConfigMaps configure the control plane.
        {
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: ['sno-deferred'],
          verbs: ['get', 'update'],
        },
      ],
    },
    {
      ...RBAC,
      kind: 'RoleBinding',
      metadata: { namespace: 'kube-system', name: USER },
      roleRef: { apiGroup, kind: 'Role', name: USER },
      subjects: [user],
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'kube-system', name: 'sno-deferred' },
      data: {},
    },
  ]);
  t.strictSame(deferredStatus, { namespace: 'kube-system', name: 'sno-deferred' });
});

const ROOT = '/apis/rbac.authorization.k8s.io/v1';
const NAME = encodeURIComponent(USER);
const ROLE = `${ROOT}/clusterroles/${NAME}`;
const DEPENDENTS = [
  `${ROOT}/clusterrolebindings/${NAME}`,
  `${ROOT}/namespaces/kube-system/roles/${NAME}`,
  `${ROOT}/namespaces/kube-system/rolebindings/${NAME}`,
];

t.test('the ClusterRole owns its binding, the Role and its binding', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(ROLE, { metadata: { name: USER, uid: 'role-uid' } });
  for (const path of DEPENDENTS) api.set(path, { metadata: { name: USER } });
  await tieToRole(client, limits);
  const owner = { ...RBAC, kind: 'ClusterRole', name: USER, uid: 'role-uid' };
  t.strictSame(
    api.requests.map(({ method, path, body }) => ({ method, path, body })),
    [
      { method: 'GET', path: ROLE, body: undefined },
      ...DEPENDENTS.map((path) => ({
        method: 'PATCH',
        path,
        body: { metadata: { ownerReferences: [owner] } },
      })),
    ],
  );
  for (const { headers } of api.requests.slice(1)) {
    t.equal(headers['content-type'], 'application/merge-patch+json');
  }
  t.strictSame(
    await client.remove(deferredRole.resource, deferredRole, limits),
    true,
    'the role is deleted by its place',
  );
  t.equal(api.get(ROLE), undefined);
});

t.test('a dependent whose owner cannot be set is an error', async (t) => {
  const { api, client } = await startFakeApi(t);
  await t.rejects(tieToRole(client, limits), { code: 404 });
  api.set(ROLE, { metadata: { name: USER } });
  await t.rejects(tieToRole(client, limits), { code: 404 });
  for (const path of DEPENDENTS) api.set(path, { metadata: { name: USER } });
  api.rule(({ path }) => (path === DEPENDENTS[2] ? refusal(403, { message: 'no' }) : undefined));
  await t.rejects(tieToRole(client, limits), { code: 403 });
});

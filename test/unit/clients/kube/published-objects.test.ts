import t, { type Test } from 'tap';
import { publishBootstrapComplete } from '../../../../lib/clients/kube/bootstrap-complete.ts';
import {
  type InstallationStatus,
  installationStatusAccess,
  installationStatusSchema,
  publishInstallationStatus,
  statusIdentity,
} from '../../../../lib/clients/kube/installation-status.ts';
import { deleteLeases } from '../../../../lib/clients/kube/leases.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal, startFakeApi } from './fake-api.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const MAPS = '/api/v1/namespaces/kube-system/configmaps';

t.test('the end of the bootstrap', async (t) => {
  const path = `${MAPS}/bootstrap`;
  const { api, client } = await startFakeApi(t);
  await publishBootstrapComplete(client, limits);
  // openshift-install waits for exactly this object.
  t.strictSame(api.requests[0]?.body, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'bootstrap', namespace: 'kube-system' },
    data: { status: 'complete' },
  });
  t.match(api.get(path), { data: { status: 'complete' } });
  await publishBootstrapComplete(client, limits);

  const metadata = { name: 'bootstrap', namespace: 'kube-system' };
  for (const [data, found] of [
    [{ status: 'progressing' }, 'status progressing'],
    [{}, 'status missing'],
    [undefined, 'status missing'],
  ] as const) {
    api.set(path, { metadata, data });
    t.match(await thrownBy(publishBootstrapComplete(client, limits)), {
      kind: 'fatal',
      message: 'ConfigMap kube-system/bootstrap already exists',
      details: { expected: 'status complete', found },
    });
  }
  api.rule(({ method }) => (method === 'POST' ? refusal(403, { message: 'no' }) : undefined));
  t.match(await thrownBy(publishBootstrapComplete(client, limits)), { kind: 'rejected' });
});

t.test('leases are deleted by namespace and name', async (t) => {
  const { api, client } = await startFakeApi(t);
  const root = '/apis/coordination.k8s.io/v1/namespaces';
  const stored = (namespace: string, name: string) => ({ metadata: { namespace, name } });
  api.set(`${root}/a/leases/one`, stored('a', 'one'));
  api.set(`${root}/a/leases/other`, stored('a', 'other'));
  api.set(`${root}/b/leases/two`, stored('b', 'two'));
  const leases = [
    { namespace: 'a', name: 'one' },
    { namespace: 'b', name: 'two' },
    { namespace: 'b', name: 'gone' },
  ];
  await deleteLeases(client, leases, limits);
  t.equal(api.get(`${root}/a/leases/one`), undefined);
  t.equal(api.get(`${root}/b/leases/two`), undefined);
  t.ok(api.get(`${root}/a/leases/other`));
  api.rule(() => refusal(403, {}));
  t.match(await thrownBy(deleteLeases(client, leases, limits)), { kind: 'rejected' });
});

const PATH = `${MAPS}/sno-installation`;
const status: InstallationStatus = {
  version: '1.2.3',
  state: 'installing',
  step: 'api',
  time: '2030-01-01T00:00:00.000Z',
  clusterId: '6a1c2a52-2f5c-4b0e-9b2c-0d6d1ac0f2b1',
};
const another = { ...status, clusterId: '00000000-2f5c-4b0e-9b2c-0d6d1ac0f2b1' };
const written = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sno-installation', namespace: 'kube-system' },
  data,
});

async function publish(t: Test, known: object | undefined, next: InstallationStatus) {
  const { api, client } = await startFakeApi(t);
  if (known !== undefined) api.set(PATH, { metadata: { name: 'sno-installation' }, data: known });
  await publishInstallationStatus(client, next, limits);
  return api.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, body }) => ({ method, path, body }));
}

t.test('the status of an installation is created, then replaced', async (t) => {
  const failed: InstallationStatus = { ...status, state: 'failed', message: 'no disk' };
  const complete = { ...status, state: 'complete' };
  t.strictSame(await publish(t, undefined, failed), [
    { method: 'POST', path: MAPS, body: written(failed) },
  ]);
  const replaced = [{ method: 'PUT', path: PATH, body: written(status) }];
  t.strictSame(await publish(t, failed, status), replaced);
  t.strictSame(await publish(t, { ...another, state: 'complete' }, status), replaced);
  t.strictSame(await publish(t, { state: 'complete' }, status), replaced, 'what nobody can read');
  t.strictSame(await publish(t, {}, status), replaced);
  t.strictSame(await publish(t, complete, failed), [], 'complete is final');
});

t.test('a status created meanwhile is replaced', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.rule(({ method }) => {
    if (method !== 'POST') return undefined;
    api.set(PATH, { metadata: { name: 'sno-installation' } });
    return refusal(409, { reason: 'AlreadyExists' });
  });
  await publishInstallationStatus(client, status, limits);
  t.match(api.get(PATH), { data: status });
  api.delete(PATH);
  api.rule(({ method }) => (method === 'POST' ? refusal(403, {}) : undefined));
  const refused = publishInstallationStatus(client, status, limits);
  t.match(await thrownBy(refused), { kind: 'rejected' });
});

t.test('a status is read only if it is complete', async (t) => {
  const wrong = {
    version: 7,
    state: 'ready',
    step: 7,
    time: 'now',
    clusterId: 'edge',
    message: 7,
  };
  t.strictSame(installationStatusSchema.parse({ ...status, message: 'm', more: 'x' }), {
    ...status,
    message: 'm',
  });
  for (const state of ['installing', 'complete', 'failed'] as const) {
    t.equal(installationStatusSchema.parse({ ...status, state }).state, state);
  }
  for (const [field, value] of Object.entries(wrong)) {
    const { error } = installationStatusSchema.safeParse({ ...status, [field]: value });
    t.same(
      error?.issues.map(({ path }) => path),
      [[field]],
      field,
    );
    const { success } = installationStatusSchema.safeParse({ ...status, [field]: undefined });
    t.equal(success, field === 'message', `without ${field}`);
  }
});

t.test('the agent that writes the status may do nothing else', async (t) => {
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name: 'sno-agents:installation', namespace: 'kube-system' };
  t.equal(statusIdentity, 'sno-agents:installation');
  t.strictSame(installationStatusAccess(), [
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
        // Only its own: other ConfigMaps of kube-system configure the control plane.
        {
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: ['sno-installation'],
          verbs: ['get', 'update'],
        },
      ],
    },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'Role', name: 'sno-agents:installation' },
      subjects: [{ apiGroup, kind: 'Group', name: 'sno-agents:installation' }],
    },
  ]);
});

/** The requests of a change of identity, and which refusals only say that it was made before. */
import t, { type Test } from 'tap';
import { applyChange, listObjects } from '../../../../lib/change/identity/apply.ts';
import type { IdentityChange } from '../../../../lib/change/identity/changes.ts';
import { listed } from '../../../../lib/change/identity/objects.ts';
import { kubeClient } from '../../../../lib/clients/kube/client.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf, refuse } from '../../agents/host/api.ts';
import { testHost } from '../../agents/host/host.ts';

const limits = { signal: AbortSignal.timeout(120_000), deadlineMs: 60_000 };
const target = { resource: listed.pods, namespace: 'shop', name: 'web' };
const POD = '/api/v1/namespaces/shop/pods/web';
const PODS = '/api/v1/namespaces/shop/pods';
const MERGE = 'application/merge-patch+json';

async function clientOf(t: Test, answers: Record<string, ApiAnswer>) {
  const host = testHost(t);
  const { requests } = await fakeApi(t, host, answers);
  const [kubeconfig = ''] = Object.values(kubeconfigs);
  const client = await kubeClient(host.at(kubeconfig));
  t.teardown(() => client[Symbol.dispose]());
  return { client, requests };
}

/** Applies a change; returns each request with its body. */
async function sent(t: Test, change: IdentityChange, answer: object = {}) {
  const said: object[] = [];
  const answers = ['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
    [POD, PODS].map((path): [string, ApiAnswer] => [
      `${method} ${path}`,
      ({ body, headers }) => {
        said.push({ method, path, type: headers['content-type'], body: JSON.parse(body) });
        return answer;
      },
    ]),
  );
  const { client } = await clientOf(t, Object.fromEntries(answers));
  const ended = await applyChange(client, change, limits).then(
    () => 'done',
    (error: unknown) => error,
  );
  return { said, ended };
}

const body = { data: { a: 'b' } };
const uid = 'uid-1';
const deletion = {
  ...{ method: 'DELETE', path: POD },
  body: {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
    ...{ gracePeriodSeconds: 0, preconditions: { uid } },
  },
};

const CHANGES: [change: IdentityChange, requests: object[]][] = [
  [{ ...target, do: 'create', body }, [{ method: 'POST', path: PODS, body }]],
  [{ ...target, do: 'replace', body }, [{ method: 'PUT', path: POD, body }]],
  [{ ...target, do: 'patch', body }, [{ method: 'PATCH', path: POD, type: MERGE, body }]],
  [{ ...target, do: 'delete', uid }, [deletion]],
  [
    { ...target, do: 'delete', uid, dropsFinalizers: true },
    [
      {
        ...{ method: 'PATCH', path: POD, type: MERGE },
        body: { metadata: { uid, finalizers: null } },
      },
      deletion,
    ],
  ],
];

for (const [change, requests] of CHANGES) {
  const title = `${change.do}${'dropsFinalizers' in change ? ' without finalizers' : ''}`;
  t.test(`${title}: its requests, in order`, async (t) => {
    const { said, ended } = await sent(t, change);
    t.match(said, requests);
    t.equal(said.length, requests.length);
    t.equal(ended, 'done');
  });

  t.test(`${title}: what an earlier attempt has done is no error`, async (t) => {
    const refused = (code: number, reason: string) =>
      sent(t, change, refuse(code, 'refused', reason));
    const conflict = await refused(409, 'Conflict');
    t.equal(conflict.ended, 'done', 'it is there, or another one is');
    t.equal(conflict.said.length, requests.length, 'each request was sent');
    const gone = await refused(404, 'NotFound');
    if (change.do === 'create') t.match(gone.ended, { code: 404 }, 'the namespace is gone');
    else t.equal(gone.ended, 'done', 'it is gone');
    t.match((await refused(403, 'Forbidden')).ended, { code: 403 }, 'every other refusal is one');
  });
}

t.test('everything that a change looks at is listed', async (t) => {
  const object = (name: string) => ({
    metadata: { name, namespace: 'a' },
    spec: { nodeName: 'b' },
  });
  const { client, requests } = await clientOf(t, {
    'GET /api/v1/nodes': () => listOf({ metadata: { name: 'node' } }),
    'GET /api/v1/pods': () => listOf(object('pod')),
    'GET /api/v1/persistentvolumes': () => listOf(object('volume')),
    'GET /api/v1/persistentvolumeclaims': () => listOf(object('claim')),
    'GET /apis/storage.k8s.io/v1/volumeattachments': () => listOf(object('attachment')),
    'GET /apis/storage.k8s.io/v1/csinodes': () => listOf(object('csi')),
    // Those of kubelets; other Leases are of controllers.
    'GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases': () =>
      listOf({ metadata: { name: 'lease' }, spec: {} }),
    'GET /api/v1/configmaps': ({ query }) =>
      query.get('fieldSelector') === 'metadata.name=kube-root-ca.crt'
        ? listOf({ metadata: { name: 'ca' } })
        : refuse(400),
  });
  const found = await listObjects(client, limits);
  t.equal(requests.length, 8);
  t.strictSame(
    Object.fromEntries(
      Object.entries(found).map(([kind, items]) => [
        kind,
        items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).join(),
      ]),
    ),
    {
      ...{ nodes: 'node', pods: 'pod', volumes: 'volume', claims: 'claim' },
      ...{ attachments: 'attachment', csiNodes: 'csi', leases: 'lease', rootCas: 'ca' },
    },
  );
});

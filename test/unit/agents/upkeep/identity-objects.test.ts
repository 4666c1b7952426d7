/** The objects of a cluster that get another name: what is sent, kept before it is deleted, and said. */
import t, { type Test } from 'tap';
import { identityObjects } from '../../../../agents/upkeep/identity/objects.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { identityOf, inputFor } from '../../../../lib/change/identity/identity.ts';
import { replacements } from '../../../../lib/change/identity/replacements.ts';
import { requestIdentity } from '../../../../lib/change/identity/request.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import { resourcePath } from '../../../../lib/clients/kube/resources.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { apiServerTrust } from '../../../../lib/render/kubernetes/kube-apiserver.ts';
import { controllerManagerTrust } from '../../../../lib/render/kubernetes/kube-controller-manager.ts';
import { manifests } from '../../../../lib/render/kubernetes/manifests.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { servingAuthority } from '../../gather/cluster/serve-api.ts';
import { input } from '../../render/rendered-host.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { toldToStop } from './told-to-stop.ts';

const SAVED = '/var/lib/sno-agents/sno-identity/volumes.json';
const TRUST = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const CA = 'the CA';
const own = await createAuthority('admin-ca');
const from = identityOf(input);
const renamed = { ...from, hostname: 'edge-9' };
const moved = { ...from, nodeIps: ['192.0.2.77'] as [string] };

const volume = (name: string, node: string) => ({
  metadata: { name, uid: `uid of ${name}` },
  spec: {
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
        ],
      },
    },
  },
});
const pod = (name: string, owned: boolean) => ({
  metadata: {
    ...{ name, namespace: 'shop', uid: `uid of ${name}` },
    ownerReferences: owned ? [{ controller: true }] : [],
  },
  spec: { nodeName: 'edge-0', hostNetwork: true },
});

const LISTS = {
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  volumes: '/api/v1/persistentvolumes',
  claims: '/api/v1/persistentvolumeclaims',
  attachments: '/apis/storage.k8s.io/v1/volumeattachments',
  csiNodes: '/apis/storage.k8s.io/v1/csinodes',
  leases: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  rootCas: '/api/v1/configmaps',
};

/** Every change that these tests can cause, by method and path. */
const CHANGES = [
  'POST /api/v1/nodes',
  'DELETE /api/v1/nodes/edge-0',
  ...['web', 'bare'].map((name) => `DELETE /api/v1/namespaces/shop/pods/${name}`),
  ...['pv-1', 'pv-2'].flatMap((name) =>
    ['PATCH', 'DELETE'].map((method) => `${method} /api/v1/persistentvolumes/${name}`),
  ),
  'POST /api/v1/persistentvolumes',
  'PATCH /api/v1/namespaces/shop/configmaps/kube-root-ca.crt',
];

/** What aggregated API servers read of the lost host. */
const published = (bodies: Record<string, unknown>): Record<string, ApiAnswer> => ({
  [`GET ${TRUST}`]: () => ({
    metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
    data: { 'client-ca-file': 'of the lost host', other: 'kept' },
  }),
  [`PUT ${TRUST}`]: ({ body }) => {
    bodies[`PUT ${TRUST}`] = JSON.parse(body);
    return JSON.parse(body);
  },
});

/** A host of a requested change whose API server has these objects, as long as nothing is deleted. */
async function changing(
  t: Test,
  to: typeof from,
  objects: Partial<Record<keyof typeof LISTS, object[]>>,
  { backup, ...more }: { backup?: string; answers?: Readonly<Record<string, ApiAnswer>> } = {},
) {
  const endpoints: { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] } = {};
  const host = testHost(t, { endpoints });
  await saveRenderInput(host.paths, input);
  host.write(controllerManagerTrust.api, CA);
  const request = await requestIdentity(host.paths, {
    ...{ from, to },
    ...(backup === undefined ? {} : { backup }),
  });
  const context = { ...host.context, request, hostname: () => to.hostname };
  const [old, next] = [manifests(inputFor(input, from)), manifests(inputFor(input, to))];
  const rendered = replacements(old, next).map(
    ({ resource, namespace, name }) => `PUT ${resourcePath(resource, { namespace, name })}`,
  );
  const present = { ...objects };
  const bodies: Record<string, unknown> = {};
  const changed = [...CHANGES, ...rendered].map((name): [string, ApiAnswer] => [
    name,
    ({ body }) => {
      if (/^DELETE .*persistentvolumes/.test(name)) t.ok(host.has(SAVED), 'kept before it is lost');
      bodies[name] = JSON.parse(body);
      return {};
    },
  ]);
  const lists = Object.entries(LISTS).map(([kind, path]): [string, ApiAnswer] => [
    `GET ${path}`,
    () => listOf(...(Object.entries(present).find(([name]) => name === kind)?.[1] ?? [])),
  ]);
  const answers = {
    ...Object.fromEntries([...changed, ...lists]),
    ...published(bodies),
    ...more.answers,
  };
  const { requests } = await fakeApi(t, host, answers);
  // As the administrator of a moment, who is known by this host's authorities.
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.csrApprover))).server.href;
  const { gather } = accessTo('kubernetes');
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, own.certificate);
  host.write(gather.signer.key, own.key, 0o600);
  host.write(apiServerTrust.clients, 'clients of this host');
  host.write(apiServerTrust.frontProxy, 'front proxies of this host');
  return {
    host,
    present,
    bodies,
    rendered,
    request,
    changes: () => requests.filter((name) => !name.startsWith('GET')),
    run: (signal?: AbortSignal) => identityObjects.run(context, host.progress(signal)),
    holds: () => identityObjects.holds(context, host.progress()),
  };
}

const all = {
  nodes: [{ metadata: { name: 'edge-0', uid: 'uid of edge-0' } }],
  pods: [pod('web', true), pod('bare', false)],
  volumes: [volume('pv-1', 'edge-0'), volume('pv-2', 'worker-0')],
  rootCas: [{ metadata: { name: 'kube-root-ca.crt', namespace: 'shop' }, data: { 'ca.crt': '' } }],
};

t.test('everything gets the new name, in an order in which nothing is lost', async (t) => {
  const it = await changing(t, renamed, all);
  t.notOk(await it.holds());
  t.same(await it.run(), {
    kind: 'done',
    note: 'create nodes: 1, delete persistentvolumes: 1, create persistentvolumes: 1, delete pods: 2, delete nodes: 1, patch configmaps: 1',
  });
  t.strictSame(it.changes(), [
    'POST /api/v1/nodes',
    'PATCH /api/v1/persistentvolumes/pv-1',
    'DELETE /api/v1/persistentvolumes/pv-1',
    'POST /api/v1/persistentvolumes',
    'DELETE /api/v1/namespaces/shop/pods/web',
    'DELETE /api/v1/namespaces/shop/pods/bare',
    'DELETE /api/v1/nodes/edge-0',
    'PATCH /api/v1/namespaces/shop/configmaps/kube-root-ca.crt',
    ...it.rendered,
  ]);
  t.ok(it.rendered.some((name) => name.includes('/clusterroles/')));
  t.match(it.bodies['PATCH /api/v1/namespaces/shop/configmaps/kube-root-ca.crt'], {
    data: { 'ca.crt': CA },
  });
  const warned = it.host.lines.join('');
  t.match(warned, 'shop/bare has no controller, and is deleted: create it again');
  t.notMatch(warned, 'shop/web');
  t.same(JSON.parse(it.host.read(SAVED)), {
    id: it.request.id,
    volumes: [volume('pv-1', 'edge-0')],
  });
  t.equal(it.host.mode(SAVED), 0o600);
});

t.test('with the database of a lost host, this host says whom its API server trusts', async (t) => {
  const it = await changing(t, renamed, {}, { backup: '20300101T000000Z' });
  await it.run();
  t.match(it.bodies[`PUT ${TRUST}`], {
    data: {
      'client-ca-file': 'clients of this host',
      'requestheader-client-ca-file': 'front proxies of this host',
      other: 'kept',
    },
  });
});

t.test('a volume that an interrupted run has deleted is created from its copy', async (t) => {
  const it = await changing(t, renamed, {});
  const volumes = [volume('pv-1', 'edge-0')];
  it.host.write(SAVED, JSON.stringify({ id: it.request.id, volumes }));
  t.notOk(await it.holds());
  t.match(await it.run(), { note: 'create persistentvolumes: 1' });
  const { spec } = volume('pv-1', 'edge-9');
  t.match(it.bodies['POST /api/v1/persistentvolumes'], { metadata: { name: 'pv-1' }, spec });
  t.same(JSON.parse(it.host.read(SAVED)).volumes, volumes, 'until the end of the change');
  it.present.volumes = [volume('pv-1', 'edge-9')];
  t.ok(await it.holds());
});

t.test('one that is there is kept once, as it was at first', async (t) => {
  const volumes = [volume('pv-1', 'edge-0'), volume('pv-2', 'edge-0')];
  const it = await changing(t, renamed, { volumes });
  const first = { ...volume('pv-1', 'edge-0'), metadata: { name: 'pv-1', uid: 'the first' } };
  it.host.write(SAVED, JSON.stringify({ id: it.request.id, volumes: [first] }));
  await it.run();
  t.same(JSON.parse(it.host.read(SAVED)).volumes, [first, volumes[1]]);
});

t.test('the copies of another change are none', async (t) => {
  const it = await changing(t, renamed, {});
  it.host.write(SAVED, JSON.stringify({ id: 'another', volumes: [volume('x', 'edge-0')] }));
  t.ok(await it.holds());
  t.same(await it.run(), { kind: 'done', note: 'nothing to change' });
  t.same(JSON.parse(it.host.read(SAVED)), { id: it.request.id, volumes: [] });
});

t.test('told to stop at any request, it sends no further one', async (t) => {
  const { rendered } = await changing(t, renamed, {});
  for (const name of ['GET /api/v1/pods', 'POST /api/v1/nodes', ...rendered.slice(0, 1)]) {
    await toldToStop(t, name, async (silent, signal) =>
      (await changing(t, renamed, all, { answers: { [name]: silent } })).run(signal),
    );
  }
});

t.test('with another address alone, volumes stay as they are', async (t) => {
  const it = await changing(t, moved, { ...all, rootCas: [] });
  t.match(await it.run(), { note: 'delete pods: 2' });
  t.notOk(it.host.has(SAVED));
});

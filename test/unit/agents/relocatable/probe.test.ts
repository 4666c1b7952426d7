/** What the cluster is asked before a node is shipped; with a real cluster: the lab's scenario `relocate`. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { z } from 'zod';
import type { ValidateContext } from '../../../../agents/reconfigure/validate/context.ts';
import { kubernetesPlatform } from '../../../../agents/reconfigure/validate/kubernetes.ts';
import { probeCluster } from '../../../../agents/reconfigure/validate/probe.ts';
import { answersOf } from '../../../../agents/reconfigure/validate/probe-answers.ts';
import { probeObjects } from '../../../../agents/reconfigure/validate/probe-objects.ts';
import { readyPod } from '../../../../agents/reconfigure/validate/probe-workload.ts';
import { input } from '../../render/rendered-host.ts';
import { type ApiAnswer, fakeApi, listOf, refuse } from '../host/api.ts';
import { type TestHost, testHost } from '../host/host.ts';

const NAMESPACE = '/api/v1/namespaces/sno-validate';
const limits = { signal: new AbortController().signal, deadlineMs: 2_000 };

const contextOf = (host: TestHost): ValidateContext => ({
  ...host.context,
  id: 'one',
  policy: {
    schemaVersion: 1,
    internalAddress: '127.0.0.1',
    nodeName: 'edge-0',
    allowedSigners: [],
    unsignedAllowed: false,
    shippingDays: 30,
    recipient: 'age1q',
  },
  node: input,
  platform: kubernetesPlatform(host.context, input),
});

/** A cluster that takes everything; its pod never starts. */
async function stuckCluster(
  t: Test,
  pods: ApiAnswer,
  settings = { validateProbeMs: 3_000 },
  differs: Readonly<Record<string, ApiAnswer>> = {},
) {
  const host = testHost(t, { settings });
  const namespaced = (kind: string, name: string) => ({ kind, name, namespaced: true });
  let deleted = 0;
  const applied: string[] = [];
  const apply = (path: string) => ({
    [`PATCH ${path}`]: () => {
      applied.push(path.split('/').at(-2) ?? '');
      return {};
    },
  });
  await fakeApi(t, host, {
    'GET /api/v1': () => ({
      resources: [
        { kind: 'Namespace', name: 'namespaces', namespaced: false },
        namespaced('ConfigMap', 'configmaps'),
        namespaced('Service', 'services'),
        namespaced('PersistentVolumeClaim', 'persistentvolumeclaims'),
      ],
    }),
    'GET /apis/apps/v1': () => ({ resources: [namespaced('Deployment', 'deployments')] }),
    'GET /apis/storage.k8s.io/v1/storageclasses': () =>
      listOf({
        metadata: {
          name: 'local-path',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
      }),
    [`DELETE ${NAMESPACE}`]: () => {
      deleted += 1;
      // Of an earlier run that was killed: it is being deleted already.
      return deleted === 1 ? refuse(409, 'being deleted', 'Conflict') : {};
    },
    'GET /api/v1/namespaces': () => listOf(),
    'GET /api/v1/persistentvolumes': () =>
      listOf({ metadata: { name: 'of-others' }, spec: { claimRef: { namespace: 'default' } } }),
    ...apply(NAMESPACE),
    ...apply(`${NAMESPACE}/configmaps/probe`),
    ...apply(`${NAMESPACE}/persistentvolumeclaims/probe`),
    ...apply(`${NAMESPACE}/services/probe`),
    ...apply(`/apis/apps/v1/namespaces/sno-validate/deployments/probe`),
    [`GET ${NAMESPACE}/pods`]: pods,
    ...differs,
  });
  const probe = (progress = host.progress()) =>
    host.context.withAdministrator(progress, (client) =>
      probeCluster(contextOf(host), client, progress),
    );
  return { host, applied, probe, deleted: () => deleted };
}

t.test('a pod that does not start is a fault, and everything is deleted again', async (t) => {
  const waiting = { reason: 'ErrImageNeverPull', message: 'the image is not present' };
  const cluster = await stuckCluster(t, () =>
    listOf({
      metadata: { name: 'probe-1', namespace: 'sno-validate' },
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [{ name: 'probe', restartCount: 0, state: { waiting } }],
      },
    }),
  );
  const results = await cluster.probe();
  t.match(results, [
    { name: 'workload', outcome: 'failed', why: /to be ready.*the image is not present/ },
    { name: 'namespace', outcome: 'passed' },
  ]);
  t.equal(results.length, 2, 'nothing is asked of what does not run');
  t.same(cluster.applied, [
    'namespaces',
    'configmaps',
    'persistentvolumeclaims',
    'services',
    'deployments',
  ]);
  t.equal(cluster.deleted(), 2, 'what an earlier run has left, and its own');
});

t.test('another pod is one without the pod before, whose volume it may not have yet', async (t) => {
  const host = testHost(t);
  const pod = (name: string) => ({
    metadata: { name, namespace: 'sno-validate' },
    status: {
      podIP: name,
      conditions: [{ type: 'Ready', status: name === 'starting' ? 'False' : 'True' }],
    },
  });
  let names: readonly string[] = [];
  await fakeApi(t, host, { [`GET ${NAMESPACE}/pods`]: () => listOf(...names.map(pod)) });
  const ready = () => {
    const stop = new AbortController();
    const report = () => stop.abort(new Error('it waits'));
    const wait = { signal: stop.signal, deadlineMs: 60_000, report };
    return host.context.withAdministrator(host.progress(), (client) =>
      readyPod(client, { name: 'old', ip: 'old' }, wait),
    );
  };
  for (const beside of [['old', 'new'], ['new', 'old'], ['starting']]) {
    names = beside;
    await t.rejects(ready(), { message: 'it waits' }, beside.join());
  }
  names = ['new'];
  t.same(await ready(), { name: 'new', ip: 'new' });
});

const ofProbe = (name: string) => ({
  metadata: { name },
  spec: { claimRef: { namespace: 'sno-validate' } },
});

const left: readonly [what: string, differs: Record<string, ApiAnswer>, why: RegExp][] = [
  [
    'a namespace that may not be deleted',
    { [`DELETE ${NAMESPACE}`]: () => refuse(403, 'not by you', 'Forbidden') },
    /not by you/,
  ],
  [
    'a namespace that is being deleted',
    {
      'GET /api/v1/namespaces': ({ query }) => {
        t.equal(query.get('fieldSelector'), 'metadata.name=sno-validate');
        return listOf({ metadata: { name: 'sno-validate' }, status: { phase: 'Terminating' } });
      },
    },
    /the namespace sno-validate to be gone.*"phase":"Terminating"/,
  ],
  [
    'volumes',
    { 'GET /api/v1/persistentvolumes': () => listOf(ofProbe('pv-1'), ofProbe('pv-2')) },
    /its volume to be gone.*found pv-1, pv-2/,
  ],
];
for (const [what, differs, why] of left) {
  t.test(`what stays of the probe is a fault: ${what}`, async (t) => {
    const short = { validateProbeMs: 300 };
    const cluster = await stuckCluster(t, () => listOf(), short, differs);
    t.match(await cluster.probe(), [
      { name: 'workload', outcome: 'failed', why },
      { name: 'namespace', outcome: 'failed', why },
    ]);
    t.same(cluster.applied, [], 'nothing is created beside it');
  });
}

t.test('told to stop, it has the cluster delete everything, and does not wait', async (t) => {
  for (const mayDelete of [true, false]) {
    const stop = new AbortController();
    let deleted = 0;
    const cluster = await stuckCluster(
      t,
      () => {
        stop.abort(new Error('told to stop'));
        return listOf();
      },
      { validateProbeMs: 60_000 },
      {
        [`DELETE ${NAMESPACE}`]: () => {
          deleted += 1;
          return deleted === 1 || mayDelete ? {} : refuse(403, 'not by you', 'Forbidden');
        },
      },
    );
    await t.rejects(cluster.probe(cluster.host.progress(stop.signal)), /told to stop/);
    t.equal(deleted, 2);
  }
});

t.test('the probe is asked until it answers', async (t) => {
  const kept = new Map<string, string>();
  let refused = 2;
  const server = createServer(async (request, response) => {
    refused -= 1;
    if (refused === 1) return void response.destroy();
    // Nobody but the probe answers for it.
    if (refused === 0) return void response.writeHead(307, { location: '/elsewhere' }).end();
    const body = JSON.parse(await text(request));
    if (request.url === '/v3/cluster/member/list') {
      return void response.end(JSON.stringify({ members: [{ ID: '1', name: 'token' }] }));
    }
    if (request.url === '/v3/kv/put') {
      kept.set(body.key, body.value);
      return void response.end('{}');
    }
    const value = kept.get(body.key);
    response.end(JSON.stringify(value === undefined ? {} : { kvs: [{ key: body.key, value }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const probe = answersOf('127.0.0.1', port, limits);
  t.equal(await probe.name(), 'token');
  t.equal(await probe.read(), undefined);
  await probe.write('value');
  t.equal(await probe.read(), 'value');
  await t.rejects(answersOf('127.0.0.1', 1, { ...limits, deadlineMs: 100 }).name(), {
    code: 'deadline',
    message: /does not answer/,
  });
});

t.test('the pod has no rights, and needs no registry', async (t) => {
  const securityContext = { runAsNonRoot: true };
  const objects = probeObjects({ image: 'etcd:1', securityContext, token: 'x', hasVolumes: false });
  t.notMatch(JSON.stringify(objects), /PersistentVolumeClaim|persistentVolumeClaim|hostPath/);
  t.match(objects.at(-1), {
    spec: {
      template: {
        spec: {
          securityContext: { runAsNonRoot: true },
          containers: [{ image: 'etcd:1', imagePullPolicy: 'Never' }],
        },
      },
    },
  });
  t.match(objects[1], { kind: 'ConfigMap', data: { 'etcd.yaml': /"name":"x"/ } });
});

t.test('nobody runs it, and a volume is given to its group', async (t) => {
  const host = testHost(t);
  await fakeApi(t, host, {});
  const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 };
  const { securityContext } = await host.context.withAdministrator(host.progress(), (client) =>
    kubernetesPlatform(host.context, input).probeMaterial(client, limits),
  );
  t.match(securityContext, { runAsNonRoot: true, runAsGroup: 65_532, fsGroup: 65_532 });
});

const probeSchema = z.looseObject({
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }).loose(),
});
const deploymentSchema = z.object({
  selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
  strategy: z.object({ type: z.string() }),
  template: z.object({
    metadata: z.object({ labels: z.record(z.string(), z.string()) }),
    spec: z.looseObject({
      containers: z
        .array(
          z.looseObject({
            command: z.array(z.string()),
            ports: z.array(z.object({ containerPort: z.number() })),
            volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
          }),
        )
        .length(1),
      volumes: z.array(z.looseObject({ name: z.string() })),
    }),
  }),
});

t.test('the parts of the probe find each other', async (t) => {
  const options = { image: 'etcd:1', securityContext: {}, token: 'x', hasVolumes: true };
  const objects = probeObjects(options).map((each) => probeSchema.parse(each));
  const [namespace, ...others] = objects;
  const byKind = new Map(objects.map((each) => [each.kind, each]));
  t.match(namespace, {
    kind: 'Namespace',
    metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  });
  for (const { kind, metadata } of others) t.equal(metadata.namespace, 'sno-validate', kind);

  const { template, selector, strategy } = deploymentSchema.parse(byKind.get('Deployment')?.spec);
  t.equal(strategy.type, 'Recreate', 'two would open the same database');
  const { labels } = template.metadata;
  t.same(selector.matchLabels, labels);
  const [container] = template.spec.containers;
  const [port] = container?.ports ?? [];
  t.match(byKind.get('Service')?.spec, {
    type: 'NodePort',
    selector: labels,
    ports: [{ port: port?.containerPort }],
  });

  const mounts = new Map(container?.volumeMounts.map((each) => [each.name, each.mountPath]));
  t.same(
    [...mounts.keys()],
    template.spec.volumes.map(({ name }) => name),
  );
  t.match(template.spec.volumes, [
    { name: 'config', configMap: { name: byKind.get('ConfigMap')?.metadata.name } },
    {
      name: 'data',
      persistentVolumeClaim: { claimName: byKind.get('PersistentVolumeClaim')?.metadata.name },
    },
  ]);
  t.match(byKind.get('PersistentVolumeClaim')?.spec, {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: /^\d+Mi$/ } },
  });

  const data = z.record(z.string(), z.string()).parse(byKind.get('ConfigMap')?.data);
  const [[file, text] = ['', '']] = Object.entries(data);
  t.same(container?.command, ['etcd', `--config-file=${mounts.get('config')}/${file}`]);
  const etcd = z.record(z.string(), z.string()).parse(JSON.parse(text));
  const peers = etcd['listen-peer-urls'];
  t.match(etcd['data-dir'], new RegExp(`^${mounts.get('data')}/.`));
  t.equal(etcd['initial-advertise-peer-urls'], peers);
  t.equal(etcd['initial-cluster'], `${etcd.name}=${peers}`, 'it is its only member');
  t.match(peers, /^http:\/\/127\.0\.0\.1:/, 'nobody else is its peer');
  t.equal(etcd['listen-client-urls'], `http://0.0.0.0:${port?.containerPort}`);
  // etcd does not start with the one and without the other.
  t.match(etcd['advertise-client-urls'], `:${port?.containerPort}`);
});

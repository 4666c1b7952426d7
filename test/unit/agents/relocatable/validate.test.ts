import t from 'tap';
import { objectFacts } from '../../../../agents/reconfigure/validate/objects.ts';
import { nodePorts, withoutNodePorts } from '../../../../agents/steps/relocatable/node-ports.ts';
import { isRecord } from '../../../../lib/base/json.ts';
import { connectHostRuntime } from '../../../../lib/clients/cri/runtime.ts';
import { clusterPath, readCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import { readRenderInput, saveRenderInput } from '../../../../lib/render/render-input.ts';
import { input } from '../../render/rendered-host.ts';
import { fakeApi, listOf, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps/kube-proxy';

t.test('what the API and the runtime say of a node', async (t) => {
  const host = testHost(t);
  await fakeRuntime(t, host, () => [], {
    ImageStatus: (request) =>
      JSON.stringify(request).includes('"here:1"')
        ? { image: { id: `sha256:${'a'.repeat(64)}`, repoTags: ['here:1'] } }
        : {},
  });
  const pod = (name: string, phase: string, image: string, imagePullPolicy?: string) => ({
    metadata: { name, namespace: 'x' },
    spec: { hostNetwork: name === 'on-host', containers: [{ image, imagePullPolicy }] },
    status: { phase, podIP: '192.0.2.10' },
  });
  await fakeApi(t, host, {
    'GET /api/v1/nodes': () =>
      listOf(
        {
          metadata: { name: 'edge-0' },
          status: {
            addresses: [
              { type: 'InternalIP', address: '192.0.2.10' },
              { type: 'Hostname', address: 'edge-0' },
            ],
          },
        },
        { metadata: { name: 'w-1' } },
      ),
    'GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices': ({ query }) => {
      t.equal(query.get('labelSelector'), 'kubernetes.io/service-name=kubernetes');
      return listOf(
        { metadata: { name: 'k' }, endpoints: [{ addresses: ['192.0.2.10'] }] },
        { metadata: { name: 'without' }, endpoints: null },
      );
    },
    [`GET ${CONFIG_MAP}`]: () => proxy,
    'GET /api/v1/pods': () =>
      listOf(
        pod('on-host', 'Running', 'here:1', 'IfNotPresent'),
        pod('pulled', 'Pending', 'elsewhere:1', 'Always'),
        pod('ended', 'Succeeded', 'elsewhere:1'),
        pod('failed', 'Failed', 'elsewhere:1'),
        {
          metadata: { name: 'new', namespace: 'x' },
          spec: { initContainers: [{ image: 'first:1' }], containers: [{ image: 'here:1' }] },
        },
      ),
  });
  let proxy: object = {
    metadata: { name: 'kube-proxy' },
    data: { 'config.yaml': 'nodePortAddresses: [0.0.0.0/0]\n' },
  };
  using runtime = connectHostRuntime(host.paths);
  const ofNode = (name: string) =>
    host.context.withAdministrator(host.progress(), (client) =>
      objectFacts(client, runtime, name, limits),
    );
  const found = await ofNode('edge-0');
  t.same((await ofNode('w-1')).nodeAddresses, [], 'a Node that has none yet');
  t.equal((await ofNode('w-2')).nodeAddresses, undefined, 'no such Node');
  proxy = { metadata: { name: 'kube-proxy' } };
  t.same((await ofNode('edge-0')).nodePortAddresses, [], 'that of somebody else');
  proxy = refuse(404, 'not found', 'NotFound');
  t.equal((await ofNode('edge-0')).nodePortAddresses, undefined, 'no kube-proxy');
  t.strictSame(found, {
    nodes: ['edge-0', 'w-1'],
    nodeAddresses: ['192.0.2.10'],
    apiEndpoints: ['192.0.2.10'],
    nodePortAddresses: ['0.0.0.0/0'],
    pods: [
      {
        name: 'x/on-host',
        isOnHostNetwork: true,
        podIp: '192.0.2.10',
        containers: [{ image: 'here:1', isAlwaysPulled: false, isLocal: true }],
      },
      {
        name: 'x/pulled',
        isOnHostNetwork: false,
        podIp: '192.0.2.10',
        containers: [{ image: 'elsewhere:1', isAlwaysPulled: true, isLocal: false }],
      },
      {
        name: 'x/new',
        isOnHostNetwork: false,
        podIp: undefined,
        containers: [
          { image: 'first:1', isAlwaysPulled: false, isLocal: false },
          { image: 'here:1', isAlwaysPulled: false, isLocal: true },
        ],
      },
    ],
  });
});

t.test('node ports answer everywhere, and in the machine network again', async (t) => {
  const host = testHost(t);
  const images = { ...input.host.images, 'kube-proxy': 'example.test/kube-proxy:1' };
  await saveRenderInput(host.paths, { ...input, host: { ...input.host, images } });
  host.write(clusterPath(host.paths), JSON.stringify(input.cluster));
  const applied: string[] = [];
  let configuration = '';
  const resource = (kind: string, name: string, namespaced: boolean) => ({
    kind,
    name,
    namespaced,
  });
  const apply = (path: string) => ({
    [`PATCH ${path}`]: ({ body }: { body: string }) => {
      applied.push(path.split('/').at(-2) ?? '');
      const object: unknown = JSON.parse(body);
      if (isRecord(object) && isRecord(object.data))
        configuration = `${object.data['config.yaml']}`;
      return {};
    },
  });
  await fakeApi(t, host, {
    'GET /api/v1': () => ({
      resources: [
        resource('ConfigMap', 'configmaps', true),
        resource('ServiceAccount', 'serviceaccounts', true),
      ],
    }),
    'GET /apis/apps/v1': () => ({ resources: [resource('DaemonSet', 'daemonsets', true)] }),
    'GET /apis/rbac.authorization.k8s.io/v1': () => ({
      resources: [resource('ClusterRoleBinding', 'clusterrolebindings', false)],
    }),
    ...apply('/api/v1/namespaces/kube-system/serviceaccounts/kube-proxy'),
    ...apply(CONFIG_MAP),
    ...apply('/apis/apps/v1/namespaces/kube-system/daemonsets/kube-proxy'),
    ...apply('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/sno%3Akube-proxy'),
  });
  t.equal(await host.holds(nodePorts), false);
  t.equal(await host.holds(withoutNodePorts), true);
  await host.run(nodePorts);
  t.match(applied, ['serviceaccounts', 'clusterrolebindings', 'configmaps', 'daemonsets']);
  t.match(configuration, /nodePortAddresses:\n {2}- 0\.0\.0\.0\/0\n/);
  t.equal((await readRenderInput(host.paths))?.cluster.relocatable, true, 'updates keep it');
  t.equal((await readCluster(host.paths)).relocatable, true);
  t.equal(host.mode(clusterPath(host.paths)), 0o600);
  t.equal(await host.holds(nodePorts), true);

  await host.run(withoutNodePorts);
  t.notMatch(configuration, '0.0.0.0/0');
  t.equal((await readRenderInput(host.paths))?.cluster.relocatable, undefined);
  t.equal(await host.holds(withoutNodePorts), true);
});

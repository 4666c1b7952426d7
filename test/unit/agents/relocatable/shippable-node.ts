/** A node of the Kubernetes payload without a fault, and a cluster that does what it is asked. */
import { Resolver } from 'node:dns/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import type { Test } from 'tap';
import type { ValidateContext } from '../../../../agents/reconfigure/validate/context.ts';
import { kubernetesPlatform } from '../../../../agents/reconfigure/validate/kubernetes.ts';
import { readKubeconfig } from '../../../../lib/clients/kube/kubeconfig.ts';
import type { HostEndpoints } from '../../../../lib/host/paths.ts';
import {
  ageIdentityPath,
  readFactoryPolicy,
} from '../../../../lib/relocation/relocatable/policy.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { input } from '../../render/rendered-host.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf, refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { factoryHost, INTERNAL } from '../reconfigure/site-host.ts';

export const SERVICE = '172.30.0.77';
export const NODE_PORT = 30_079;
const PROBE = '/api/v1/namespaces/sno-validate';
const seconds = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
const NOW = seconds(new Date());
const condition = (type: string) => ({ type, status: 'True', lastHeartbeatTime: NOW });
const none: ApiAnswer = () => listOf();
const unserved: ApiAnswer = () => refuse(404, 'not found', 'NotFound');

const podOf = (component: string) => ({
  metadata: { namespace: 'kube-system', name: `${component}-edge-0`, uid: component },
  spec: { nodeName: 'edge-0', hostNetwork: true, containers: [{ image: 'here:1' }] },
  status: {
    phase: 'Running',
    podIP: INTERNAL,
    conditions: [condition('Ready')],
    containerStatuses: [
      {
        name: component,
        restartCount: 0,
        containerID: component,
        state: { running: { startedAt: NOW } },
      },
    ],
  },
});
const lease = (name: string) => ({
  metadata: { namespace: 'kube-system', name },
  spec: {
    holderIdentity: 'edge-0_a',
    leaseDurationSeconds: 3600,
    acquireTime: NOW,
    renewTime: NOW,
  },
});

/** What the API says of a cluster that has settled. */
const SETTLED: Readonly<Record<string, ApiAnswer>> = {
  'GET /readyz': () => ({}),
  'GET /api/v1/nodes': () =>
    listOf({
      metadata: { name: 'edge-0', uid: 'u' },
      status: {
        conditions: [condition('Ready')],
        addresses: [{ type: 'InternalIP', address: INTERNAL }],
      },
    }),
  'GET /api/v1/pods': () => listOf(...components.map(podOf)),
  'GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases': () =>
    listOf(lease('kube-controller-manager'), lease('kube-scheduler')),
  'GET /apis/apiregistration.k8s.io/v1/apiservices': () =>
    listOf({ metadata: { name: 'v1.' }, status: { conditions: [condition('Available')] } }),
  'GET /apis/apps/v1/deployments': none,
  'GET /apis/apps/v1/daemonsets': none,
  'GET /apis/apps/v1/statefulsets': none,
  'GET /apis/certificates.k8s.io/v1/certificatesigningrequests': none,
  'GET /apis/config.openshift.io/v1': unserved,
  'GET /apis/machineconfiguration.openshift.io/v1': unserved,
  'GET /apis/operator.openshift.io/v1': unserved,
  'GET /apis/tuned.openshift.io/v1': unserved,
  'GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices': () =>
    listOf({ metadata: { name: 'kubernetes' }, endpoints: [{ addresses: [INTERNAL] }] }),
  'GET /api/v1/namespaces/kube-system/configmaps/kube-proxy': () => ({
    metadata: { name: 'kube-proxy' },
    data: { 'config.yaml': 'nodePortAddresses: [0.0.0.0/0]\n' },
  }),
};

/** The probe, as the cluster and its own addresses show it; its pod has another name after each deletion. */
export interface FakeProbe {
  /** What answers at an address instead of the probe itself, by `address:port`. */
  readonly others: Map<string, string>;
  /** Of whom the log is. */
  log: string | undefined;
  /** Whether a new pod finds what the one before has written. */
  keeps: boolean;
  /** What the cluster was given, by kind. */
  readonly applied: Map<string, string>;
}

function probeAnswers(t: Test, probe: FakeProbe): Readonly<Record<string, ApiAnswer>> {
  let pods = 1;
  let kept: string | undefined;
  const ip = () => `10.128.0.${pods}`;
  const token = (): string => {
    const { data } = JSON.parse(probe.applied.get('ConfigMap') ?? '{}');
    return JSON.parse(data['etcd.yaml']).name;
  };
  const answer = (url: URL, body: { value?: string }): object => {
    const other = probe.others.get(url.host);
    const known = [`${ip()}:2379`, `${SERVICE}:2379`, `${INTERNAL}:${NODE_PORT}`];
    if (other === undefined && !known.includes(url.host)) throw new TypeError('fetch failed');
    if (url.pathname === '/v3/cluster/member/list')
      return { members: [{ name: other ?? token() }] };
    if (url.pathname === '/v3/kv/range')
      return { kvs: kept === undefined ? [] : [{ value: kept }] };
    kept = body.value;
    return {};
  };
  t.capture(globalThis, 'fetch', async (url: string, { body }: { body: string }) =>
    Response.json(answer(new URL(url), JSON.parse(body))),
  );
  const apply: ApiAnswer = ({ body }) => {
    probe.applied.set(JSON.parse(body).kind, body);
    return {};
  };
  const kind = (kind: string, name: string) => ({ kind, name, namespaced: kind !== 'Namespace' });
  return {
    'GET /api/v1': () => ({
      resources: [
        kind('Namespace', 'namespaces'),
        kind('ConfigMap', 'configmaps'),
        kind('Service', 'services'),
        kind('PersistentVolumeClaim', 'persistentvolumeclaims'),
      ],
    }),
    'GET /apis/apps/v1': () => ({ resources: [kind('Deployment', 'deployments')] }),
    'GET /apis/storage.k8s.io/v1/storageclasses': () =>
      listOf(
        {
          metadata: {
            name: 'local-path',
            annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
          },
        },
        { metadata: { name: 'by-hand' } },
      ),
    'GET /api/v1/namespaces': ({ query }) =>
      query.get('fieldSelector') === 'metadata.name=sno-validate'
        ? listOf()
        : listOf({ metadata: { name: 'default' } }),
    'GET /api/v1/persistentvolumes': none,
    [`DELETE ${PROBE}`]: () => ({}),
    [`PATCH ${PROBE}`]: apply,
    [`PATCH ${PROBE}/configmaps/probe`]: apply,
    [`PATCH ${PROBE}/persistentvolumeclaims/probe`]: apply,
    [`PATCH ${PROBE}/services/probe`]: apply,
    'PATCH /apis/apps/v1/namespaces/sno-validate/deployments/probe': apply,
    [`GET ${PROBE}/pods`]: ({ query }) => {
      t.equal(query.get('labelSelector'), 'app=probe');
      const status = { podIP: ip(), conditions: [{ type: 'Ready', status: 'True' }] };
      return listOf({ metadata: { name: `probe-${pods}`, namespace: 'sno-validate' }, status });
    },
    ...Object.fromEntries(
      [1, 2].flatMap((number) => [
        [`GET ${PROBE}/pods/probe-${number}/log`, () => ({ log: probe.log ?? token() })],
        [
          `DELETE ${PROBE}/pods/probe-${number}`,
          () => {
            pods += 1;
            if (!probe.keeps) kept = undefined;
            return {};
          },
        ],
      ]),
    ),
    [`GET ${PROBE}/services/probe`]: () => ({
      metadata: { name: 'probe' },
      spec: { clusterIPs: [SERVICE], ports: [{ nodePort: NODE_PORT }] },
    }),
  };
}

/** The answers of the cluster's name server, by name. */
export type Names = Map<string, readonly string[] | Error>;

export interface ShippableNode {
  readonly host: TestHost;
  readonly context: ValidateContext;
  readonly probe: FakeProbe;
  readonly names: Names;
}

export async function shippableNode(
  t: Test,
  differs: Readonly<Record<string, ApiAnswer>> = {},
): Promise<ShippableNode> {
  const settings = { validateWindowMs: 50, validateProbeMs: 30_000 };
  const endpoints: { -readonly [Name in keyof HostEndpoints]: HostEndpoints[Name] } = {};
  const host = await factoryHost(t, { settings, endpoints });
  const identity = await generateIdentity();
  const recipient = await identityToRecipient(identity);
  host.write(ageIdentityPath(host.paths), `${identity}\n`, 0o600);
  const policy = { ...(await readFactoryPolicy(host.paths)), recipient };
  host.write('/etc/sno-agents/factory.json', JSON.stringify(policy), 0o600);
  host.write(
    '/etc/sno-agents/kubelet.env',
    `KUBELET_NODE_IPS=${INTERNAL}\nKUBELET_NODE_NAME=edge-0\n`,
  );
  host.write('/etc/ssh/ssh_host_ed25519_key', 'a key', 0o600);
  host.write('/etc/ssh/ssh_host_ed25519_key.pub', 'ssh-ed25519 AAAA host\n');
  host.write('/sys/class/rtc/rtc0/since_epoch', `${Math.floor(Date.now() / 1000)}\n`);
  const address = {
    ifname: 'br-node',
    addr_info: [{ local: INTERNAL, prefixlen: 32, scope: 'global' }],
  };
  host.programs.give('ip', `echo '${JSON.stringify([address])}'`);
  host.programs.give(
    'timedatectl',
    '[ "$*" = "show --property=NTPSynchronized --value" ] && cat "$ROOT/synchronized"',
  );
  host.write('/synchronized', 'yes\n');
  host.programs.give(
    'ssh-keygen',
    `[ "$*" = "-Y sign -n sno-factory-report -f $ROOT/etc/ssh/ssh_host_ed25519_key" ] || exit 97
echo "-----BEGIN SSH SIGNATURE-----"; sha256sum`,
  );
  await fakeRuntime(t, host, () => [], {
    ImageStatus: (request) => {
      const pinned = JSON.stringify(request).includes('pinned:1');
      return { image: { id: `sha256:${'a'.repeat(64)}`, repoTags: ['here:1'], pinned } };
    },
  });
  const probe: FakeProbe = { others: new Map(), log: undefined, keeps: true, applied: new Map() };
  await fakeApi(t, host, { ...SETTLED, ...probeAnswers(t, probe), ...differs });
  endpoints.api = (await readKubeconfig(host.at(kubeconfigs.csrApprover))).server.href;
  const names: Names = new Map([
    ['kubernetes.default.svc.cluster.local', ['172.30.0.1']],
    ['probe.sno-validate.svc.cluster.local', [SERVICE]],
  ]);
  t.capture(Resolver.prototype, 'resolve4', async function (this: Resolver, name: string) {
    t.same(this.getServers(), ['172.30.0.10'], "the cluster's name server");
    const answer = names.get(name) ?? new Error(`no ${name}`);
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const found = await readFactoryPolicy(host.paths);
  if (found === undefined) throw new Error('no policy');
  const images = { ...input.host.images, 'kube-proxy': 'here:1' };
  const rendered = { ...input, host: { ...input.host, images } };
  const context: ValidateContext = {
    ...host.context,
    bootTime: async () => new Date(Date.now() - 3_600_000),
    id: 'one',
    policy: found,
    node: rendered,
    platform: kubernetesPlatform(host.context, rendered),
  };
  return { host, context, probe, names };
}

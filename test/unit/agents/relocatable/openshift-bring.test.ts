/** `reconfigure prepare` on a node of another installer: it gets the MachineConfig of a relocatable one, and is described. */
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { publishIssue } from '../../../../lib/engine/console/publish-issue.ts';
import {
  relocatableFiles,
  relocatableManifest,
} from '../../../../lib/relocation/relocatable/machine-config.ts';
import { ASSISTED_DNS } from '../../../../lib/relocation/relocatable/openshift/assisted-dns.ts';
import { type ApiAnswer, listOf, refuse } from '../host/api.ts';
import type { TestHost } from '../host/host.ts';
import {
  discoveryOf,
  NODE,
  openShiftApi,
  openShiftHost,
  prepare,
  said,
  servedPlurals,
} from './openshift-host.ts';
import { prepareSaying, present, refusedWithoutChange } from './openshift-refused.ts';

const CLUSTER = '/etc/sno-agents/cluster.json';
const RECORD = '/var/lib/sno-agents/record.json';
const CLUSTER_ID = '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab';
const CONFIGS = '/apis/machineconfiguration.openshift.io/v1/machineconfigs';
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC factory';

const installConfig = `apiVersion: v1
metadata: {name: edge}
baseDomain: example.test
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
sshKey: ${KEY}
`;

/** As assisted-service writes it (internal/network/manifests_generator.go). */
const assisted = {
  metadata: { name: ASSISTED_DNS },
  spec: {
    config: {
      storage: {
        files: [
          { path: '/usr/local/bin/dnsmasq_config.sh' },
          { path: '/etc/NetworkManager/dispatcher.d/forcedns' },
          { path: '/etc/NetworkManager/conf.d/single-node.conf' },
        ],
      },
      systemd: { units: [{ name: 'dnsmasq.service' }] },
    },
  },
};
const configWith = (name: string, path: string) => ({
  metadata: { name },
  spec: { config: { storage: { files: [{ path }] } } },
});
/** The operator's own: its dispatchers were read. */
const template = configWith('00-master', '/etc/NetworkManager/dispatcher.d/forcedns-rhel9-fix');

interface Cluster {
  readonly configs?: readonly { readonly metadata: { readonly name: string } }[];
  readonly platform?: string;
  readonly topology?: string;
  readonly networkType?: string;
  readonly release?: string;
  /** What the installer was told. */
  readonly install?: string;
  readonly change?: Partial<typeof said>;
  readonly served?: Readonly<Record<string, readonly string[]>>;
  /** While the cluster is asked for its MachineConfigs. */
  readonly meanwhile?: () => void;
}

const poolOf = (configs: NonNullable<Cluster['configs']>) => ({
  ...said.pool,
  spec: { configuration: { source: configs.map(({ metadata: { name } }) => ({ name })) } },
});

/** A host that another installer made: nothing of ours but the executable. */
function hostOfOthers(t: Test): TestHost {
  const host = openShiftHost(t);
  for (const { path } of relocatableFiles(NODE)) host.remove(path);
  for (const path of [CLUSTER, RECORD]) host.remove(path);
  return host;
}

async function apiOfOthers(t: Test, host: TestHost, cluster: Cluster = {}) {
  const { configs = [template, assisted], platform = 'None', change = {} } = cluster;
  const { topology = 'SingleReplica', networkType = 'OVNKubernetes', served } = cluster;
  const { install = installConfig, release = '4.21.3' } = cluster;
  const created: string[] = [];
  const config = '/apis/config.openshift.io/v1';
  const answers: Record<string, ApiAnswer> = {
    [`GET ${config}/infrastructures/cluster`]: () => ({
      metadata: { name: 'cluster' },
      status: {
        infrastructureName: 'edge-x1',
        controlPlaneTopology: topology,
        platformStatus: { type: platform },
      },
    }),
    [`GET ${config}/networks/cluster`]: () => ({
      metadata: { name: 'cluster' },
      status: {
        networkType,
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
    }),
    'GET /api/v1/namespaces/kube-system/configmaps/cluster-config-v1': () => ({
      metadata: { name: 'cluster-config-v1' },
      data: { 'install-config': install },
    }),
    [`GET ${CONFIGS}`]: () => {
      cluster.meanwhile?.();
      return listOf(...configs);
    },
    [`POST ${CONFIGS}`]: ({ body }) => {
      created.push(body);
      return JSON.parse(body);
    },
    ...(served === undefined ? {} : discoveryOf(served)),
  };
  const version = {
    metadata: { name: 'version' },
    spec: { clusterID: CLUSTER_ID },
    status: { desired: { version: release, image: 'registry.test/release@sha256:1' } },
  };
  const api = { version, pool: poolOf(configs), ...change };
  const { requests } = await openShiftApi(t, host, api, answers);
  return { created, requests };
}

t.test('one restart is asked for, and one MachineConfig is made', async (t) => {
  const host = hostOfOthers(t);
  const { created } = await apiOfOthers(t, host);
  await refusedWithoutChange(
    t,
    host,
    /Node edge-0, 192\.0\.2\.10\. Run it with --allow-restart.*relocatable-manifests/,
  );
  t.same(created, []);
  const before = present(host);
  const { code, text } = await prepareSaying(host, '--allow-restart');
  t.equal(code, 1, 'to be run again');
  t.match(text, /was created, with edge-0 and 192\.0\.2\.10; it replaces what 50-master-dnsmasq/);
  t.match(text, /restarts this host once.*run this command again/s);
  t.strictSame(present(host), before, 'nothing on the host');
  t.equal(created.length, 1);
  const { metadata, spec } = JSON.parse(created[0] ?? '');
  t.match(metadata, { name: '99-master-sno-relocatable' });
  const paths = spec.config.storage.files.map(({ path }: { path: string }) => path);
  t.ok(paths.includes('/etc/NetworkManager/dispatcher.d/forcedns'), 'replaced by its name');
  const wanted = relocatableManifest({ ...NODE, replacesAssistedDns: true });
  t.same(spec.config, wanted.spec.config, 'with the address, the name and the domain of the Node');
  const dnsmasq = spec.config.systemd.units.find(
    ({ name }: { name: string }) => name === 'dnsmasq.service',
  );
  t.notMatch(dnsmasq.contents, /ovs-configuration/, 'it does not wait for the pod network');
});

t.test('after the restart it is prepared, described and taken back', async (t) => {
  const host = hostOfOthers(t);
  const configs = [template, assisted, { metadata: { name: '99-master-sno-relocatable' } }];
  await apiOfOthers(t, host, { configs });
  const node = { ...NODE, replacesAssistedDns: true };
  for (const { path, mode, contents } of relocatableFiles(node)) host.write(path, contents, mode);
  t.match(await prepare(host), { code: 0 });
  t.match(JSON.parse(host.read(CLUSTER)), {
    controlPlane: 'openshift',
    name: 'edge',
    baseDomain: 'example.test',
    clusterId: CLUSTER_ID,
    executableSha256: createHash('sha256').update('executable').digest('hex'),
    openshift: {
      version: '4.21',
      releaseImage: 'registry.test/release@sha256:1',
      clusterId: CLUSTER_ID,
      infrastructureName: 'edge-x1',
      platform: 'none',
      installedByOthers: true,
    },
    machineNetwork: ['192.0.2.0/24'],
    clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
    serviceNetwork: ['172.30.0.0/16'],
    sshKeys: [KEY],
  });
  const described = host.read(CLUSTER);
  const recorded = { clusterId: CLUSTER_ID, cluster: 'edge.example.test', node: 'edge-0' };
  t.match(JSON.parse(host.read(RECORD)), recorded);
  // As an undo that was interrupted.
  host.remove(RECORD);
  t.match(await prepare(host), { code: 0 }, 'again');
  t.match(JSON.parse(host.read(RECORD)), recorded);
  t.equal(host.read(CLUSTER), described, 'described once');
  t.match(await prepare(host, '--undo'), { code: 0 });
  t.notOk(host.has(CLUSTER));
  t.notOk(host.has(RECORD));
  t.ok(host.has('/etc/dnsmasq.d/sno-node.conf'), 'the MachineConfig stays');
});

t.test('a prompt tells of it what it tells of any node', async (t) => {
  const host = hostOfOthers(t);
  const configs = [template, { metadata: { name: '99-master-sno-relocatable' } }];
  await apiOfOthers(t, host, { configs });
  for (const { path, mode, contents } of relocatableFiles(NODE)) host.write(path, contents, mode);
  t.match(await prepare(host), { code: 0 });
  host.write('/etc/sno-agents/sealed', '{}');
  await publishIssue(host.paths);
  t.match(host.read('/run/sno-agents/console.issue'), /waits for its site volume/);
});

t.test('while it is being applied', async (t) => {
  const host = hostOfOthers(t);
  const configs = [template, { metadata: { name: '99-master-sno-relocatable' }, spec: {} }];
  const { created } = await apiOfOthers(t, host, { configs });
  const { code, text } = await prepareSaying(host, '--allow-restart');
  t.equal(code, 1);
  t.match(text, /exists, and is not on the host yet/);
  t.same(created, []);
});

const nodeAt = (...addresses: string[]): Cluster => {
  const status = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) };
  return { change: { nodes: [{ metadata: { name: 'edge-0' }, status }] } };
};

const refusals: readonly [what: string, Cluster, says: RegExp][] = [
  ['three nodes', { topology: 'HighlyAvailable' }, /cluster: controlPlaneTopology is Highly/],
  ['another platform', { platform: 'BareMetal' }, /cluster: the platform is baremetal/],
  ['another network', { networkType: 'Calico' }, /cluster: the network is Calico/],
  [
    'two addresses',
    nodeAt(NODE.address, '2001:db8::10'),
    /node-address: .*found 192\.0\.2\.10, 2001:db8::10/,
  ],
  ['an address of IPv6', nodeAt('2001:db8::10'), /node-address: .*of IPv4, found 2001:db8::10/],
  ['no address', nodeAt(), /node-address: .*found none/],
  [
    'a worker',
    { change: { nodes: [...said.nodes, { metadata: { name: 'w' } }] } },
    /other-nodes: expected one Node, found edge-0, w/,
  ],
  [
    'a kind that is not served',
    { served: { ...servedPlurals, 'operator.openshift.io/v1alpha1': [] } },
    /served-kinds: the API serves no imagecontentsourcepolicies/,
  ],
  ['no pool', { change: { pool: refuse(404, 'none', 'NotFound') } }, /machine-config-pool: /],
  ['a release that nobody has read', { release: '5.1.0' }, /release: OpenShift 5\.1\.0: expected/],
  ...(
    [
      ['99-resolv', '/etc/resolv.conf'],
      ['98-names', '/etc/dnsmasq.d/own.conf'],
      ['99-script', '/etc/NetworkManager/dispatcher.d/99-own'],
      ['98-bridge', '/etc/nmstate/openshift/cluster.yml'],
      [ASSISTED_DNS, '/etc/dnsmasq.d/new.conf'],
    ] as const
  ).map(([name, path]): [string, Cluster, RegExp] => [
    `${path} of ${name}`,
    { configs: [template, configWith(name, path)] },
    new RegExp(`other-machine-configs: MachineConfig ${name} has ${path}`),
  ]),
];

for (const [what, cluster, says] of refusals) {
  t.test(`refused: ${what}`, async (t) => {
    const host = hostOfOthers(t);
    const { created } = await apiOfOthers(t, host, cluster);
    await refusedWithoutChange(t, host, says, '--allow-restart');
    t.same(created, []);
    t.notOk(host.has(CLUSTER));
  });
}

t.test('refused: while another change is under way, before anything is asked', async (t) => {
  const host = hostOfOthers(t);
  const { requests } = await apiOfOthers(t, host);
  host.write('/var/lib/sno-agents/reconfigure/request.json', '{}');
  const before = requests.length;
  for (const option of [[], ['--allow-restart']])
    await refusedWithoutChange(t, host, /getting the configuration of its site/, ...option);
  t.notOk(requests.slice(before).some((each) => each.includes(CONFIGS)));
});

t.test('refused: a host that is no CoreOS', async (t) => {
  const host = hostOfOthers(t);
  const { created } = await apiOfOthers(t, host);
  host.write('/usr/lib/os-release', 'ID=fedora\nVERSION_ID=43\n');
  await refusedWithoutChange(t, host, /operating-system: expected RHCOS/, '--allow-restart');
  t.same(created, []);
});

t.test('refused: a change that came while the cluster was asked', async (t) => {
  const host = hostOfOthers(t);
  const { created } = await apiOfOthers(t, host, {
    meanwhile: () => host.write('/var/lib/sno-agents/reconfigure/request.json', '{}'),
  });
  await refusedWithoutChange(t, host, /the configuration of its site/, '--allow-restart');
  t.same(created, [], 'the operator would restart the host in the midst of it');
});

t.test('a cluster that cannot be described, without what its installer was told', async (t) => {
  for (const [install, says] of [
    ['pullSecret: {auths: [hush', /found no YAML/],
    ['metadata: {name: edge}\npullSecret: hush\n', /baseDomain/],
    ['', /found expected a mapping, found nothing/],
  ] as const) {
    const host = hostOfOthers(t);
    await apiOfOthers(t, host, { install });
    const { code, text } = await prepareSaying(host, '--allow-restart');
    t.equal(code, 2);
    t.match(text, /this cluster cannot be described; nothing was changed; .*cluster-config-v1/s);
    t.match(text, says);
    t.notMatch(text, 'hush');
    t.notOk(host.has(CLUSTER));
  }
});

t.test('a ClusterVersion without the id of its cluster is named', async (t) => {
  const host = hostOfOthers(t);
  const desired = { version: '4.21.3', image: 'registry.test/release@sha256:1' };
  const version = { metadata: { name: 'version' }, spec: {}, status: { desired } };
  await apiOfOthers(t, host, { change: { version } });
  const { code, text } = await prepareSaying(host, '--allow-restart');
  t.equal(code, 1);
  t.match(
    text,
    /GET \S+\/clusterversions\/version: the answer is not as expected: .*spec\.clusterID/,
  );
  t.notOk(host.has(CLUSTER));
});

t.test('what MachineConfigs that are not in the pool have does not matter', async (t) => {
  const host = hostOfOthers(t);
  const stray = configWith('99-worker-names', '/etc/resolv.conf');
  const change = { pool: poolOf([template]) };
  const { created } = await apiOfOthers(t, host, { configs: [template, stray], change });
  t.equal((await prepareSaying(host, '--allow-restart')).code, 1);
  t.notMatch(created[0], /forcedns/, 'nothing to replace');
});

t.test('a node of ours gets it as well, also of an unknown release that is accepted', async (t) => {
  const host = openShiftHost(t);
  for (const { path } of relocatableFiles(NODE)) host.remove(path);
  const { created } = await apiOfOthers(t, host, { configs: [template], release: '5.1.0' });
  const asked = ['--allow-restart', '--accept-unknown-release'];
  t.equal((await prepareSaying(host, ...asked)).code, 1);
  t.equal(created.length, 1);
});

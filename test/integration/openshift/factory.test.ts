/**
 * The factory's side of a relocatable node on OpenShift's own API server, with its own definitions: `reconfigure prepare`, as a
 * process that is killed at each program that it runs, with the real systemctl on a host that is a folder; and what `reconfigure
 * validate` reads. No operator and no kubelet runs. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: test/unit/agents/relocatable/openshift-*.test.ts, on an API that only answers.
 */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { openShiftPlatform } from '../../../agents/reconfigure/validate/openshift.ts';
import { probeObjects } from '../../../agents/reconfigure/validate/probe-objects.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import {
  OPERATOR_CRDS,
  openshiftApi,
  PAYLOAD_CRDS,
} from '../../../lab/components/openshift/api.ts';
import { openshiftKubernetes } from '../../../lab/components/openshift/kubernetes.ts';
import type { Limits } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { clusterVersions, machineConfigPools } from '../../../lib/cluster/steady/openshift.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { relocatableManifest } from '../../../lib/relocation/relocatable/machine-config.ts';
import { readFactoryPolicy } from '../../../lib/relocation/relocatable/policy.ts';
import { withLocalAdministrator } from '../../../lib/render/openshift/installed-access.ts';
import { relocatableUnits } from '../../../units/openshift.ts';
import type { TestHost } from '../../unit/agents/host/host.ts';
import {
  LOCAL_KUBECONFIG,
  NODE,
  openShiftHost,
  steadyDaemon,
} from '../../unit/agents/relocatable/openshift-host.ts';
import { cachedFolder } from './cached.ts';
import { startForkApiServer } from './fork-api-server.ts';
import { SITE_DEFINITIONS } from './site-cluster.ts';

const LIFETIME_MS = 300_000;
const PROCESS_MS = 60_000;
const PROCESS = join(import.meta.dirname, 'prepare-process.ts');

const folders = await Promise.all([openshiftKubernetes, openshiftApi].map(cachedFolder));
const skip = folders.includes(undefined)
  ? 'not built: openshift-kubernetes, openshift-api'
  : !(await isInstalled('systemctl')) && 'needs systemctl';

const POOLS = join(PAYLOAD_CRDS, '0000_80_machine-config_01_machineconfigpools-Default.crd.yaml');
const OF_OPERATORS = [
  '0000_00_cluster-version-operator_01_clusterversions-Default',
  '0000_50_ingress_00_ingresscontrollers',
].map((name) => join(OPERATOR_CRDS, `${name}.crd.yaml`));

const signer = await createAuthority('kube-csr-signer');
const etcdPeer = await issueLeaf(signer, {
  subject: { commonName: 'peer' },
  usage: 'both',
  lifetimeDays: 10,
});

const secret = (namespace: string, name: string, certificate: string, annotations = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { namespace, name, annotations },
  stringData: { 'tls.crt': certificate, 'tls.key': 'a key' },
});

const installed: readonly object[] = [
  ...['openshift-etcd', 'openshift-kube-apiserver-operator', 'shop'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  {
    apiVersion: 'config.openshift.io/v1',
    kind: 'Ingress',
    metadata: { name: 'cluster' },
    spec: { domain: `apps.${NODE.clusterDomain}`, loadBalancer: { platform: { type: '' } } },
  },
  relocatableManifest(NODE),
  secret('openshift-kube-apiserver-operator', 'aggregator-client-signer', signer.certificate, {
    'certificates.openshift.io/auto-regenerate-after-offline-expiry': 'https://example.test/1631',
  }),
  secret('openshift-etcd', 'etcd-peer-edge-0', etcdPeer.certificate),
  secret('shop', 'web', etcdPeer.certificate),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'openshift-etcd', name: 'etcd-endpoints' },
    data: { a: NODE.address },
  },
];

/** What the operators have reported. */
async function report(admin: KubeClient, limits: Limits): Promise<void> {
  const metadata = { name: NODE.nodeName, annotations: steadyDaemon };
  const node = { apiVersion: 'v1', kind: 'Node', metadata };
  const made = await admin.create(resources.nodes, {}, node, limits);
  const addresses = [{ type: 'InternalIP', address: NODE.address }];
  await admin.replace(
    resources.nodes,
    { name: NODE.nodeName, subresource: 'status' },
    { ...made, status: { addresses } },
    limits,
  );
  const version = await admin.create(
    clusterVersions,
    {},
    {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ClusterVersion',
      metadata: { name: 'version' },
      spec: { clusterID: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab' },
    },
    limits,
  );
  await admin.replace(
    clusterVersions,
    { name: 'version', subresource: 'status' },
    {
      ...version,
      status: {
        ...{
          desired: { version: '4.21.0', image: 'registry.test/release' },
          observedGeneration: 1,
        },
        ...{ versionHash: 'x', availableUpdates: null },
      },
    },
    limits,
  );
  const since = '2026-01-01T00:00:00Z';
  const pool = await admin.create(
    machineConfigPools,
    {},
    {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfigPool',
      metadata: { name: 'master' },
      spec: {
        configuration: {
          name: 'rendered-master-1',
          source: [{ name: relocatableManifest(NODE).metadata.name }],
        },
      },
    },
    limits,
  );
  const conditions = ['Updated', 'Degraded'].map((type) => ({
    ...{ type, status: type === 'Updated' ? 'True' : 'False', reason: '', message: '' },
    lastTransitionTime: since,
  }));
  await admin.replace(
    machineConfigPools,
    { name: 'master', subresource: 'status' },
    { ...pool, status: { conditions } },
    limits,
  );
}

/** The real systemctl for what it does to files; each program that is run may be the last one. */
function realSystemctl(host: TestHost): void {
  const count = `n=$(($(cat "$ROOT/calls" 2>/dev/null || echo 0) + 1)); echo $n > "$ROOT/calls"
[ "$n" != "$(cat "$ROOT/last" 2>/dev/null)" ] || { kill -9 $PPID; exit 1; }
`;
  host.programs.give(
    'systemctl',
    `${count}case "$1" in
show)
  case "$2" in
  dnsmasq.service) echo ActiveState=active; exit ;;
  kubelet.service) echo "Environment=$(cat "$ROOT/kubelet-environment")"; exit ;;
  nodeip-configuration.service|ovs-configuration.service) cat "$ROOT/network-units"; exit ;;
  esac
  echo "UnitFileState=$(/usr/bin/systemctl --root="$ROOT" is-enabled "$2" 2>/dev/null)"
  echo NeedDaemonReload=no ;;
enable|disable) shift; /usr/bin/systemctl --root="$ROOT" ${'"$verb"'} $* ;;
daemon-reload|start|try-reload-or-restart) ;;
*) exit 97 ;;
esac`.replace('enable|disable) shift;', 'enable|disable) verb=$1; shift;'),
  );
  host.programs.give('udevadm', `${count}[ "$*" = "control --reload" ]`);
}

const run = (host: TestHost, ...args: string[]) =>
  execa(process.execPath, [PROCESS, host.root, ...args], {
    all: true,
    reject: false,
    timeout: PROCESS_MS,
  });

const enabled = async (host: TestHost): Promise<string[]> => {
  const folder = '/etc/systemd/system';
  const names = await readdir(host.at(folder), { recursive: true });
  return names.filter((name) => /\.wants\//.test(name)).toSorted();
};

t.test('a node of OpenShift in its factory', { skip, timeout: LIFETIME_MS }, async (t) => {
  const [kubernetes = '', api = ''] = folders;
  const server = await startForkApiServer(t, kubernetes, LIFETIME_MS);
  const { admin, limits, apply, controlPlane } = server;
  const ofSite = (await readdir(join(api, PAYLOAD_CRDS)))
    .filter((name) => SITE_DEFINITIONS.test(name))
    .map((name) => join(PAYLOAD_CRDS, name));
  for (const path of [...ofSite, POOLS, ...OF_OPERATORS]) {
    await apply(path, await readFile(join(api, path), 'utf8'));
  }
  await apply('installed', installed.map((object) => stringify(object)).join('---\n'));
  await report(admin, limits);
  const kubeconfig = await controlPlane.kubeconfig({ name: 'admin', groups: ['system:masters'] });
  const host = openShiftHost(t);
  host.write(LOCAL_KUBECONFIG, kubeconfig, 0o600);
  realSystemctl(host);

  await t.test('prepared, killed at each program that it runs', async (t) => {
    const kills = await killedEachTime(host);
    t.ok(kills > 5, `${kills} kills`);
    t.match(await readFactoryPolicy(host.paths), {
      internalAddress: NODE.address,
      nodeName: NODE.nodeName,
    });
    t.same(await enabled(host), [
      'multi-user.target.wants/reconfigure.service',
      'multi-user.target.wants/sno-label.service',
      'multi-user.target.wants/sno-report.path',
      'multi-user.target.wants/sno-trial.service',
      'timers.target.wants/sno-report.timer',
      'timers.target.wants/sno-site-url.timer',
      'timers.target.wants/sno-trial.timer',
    ]);
    for (const { name, contents } of relocatableUnits) {
      t.equal(host.read(`/etc/systemd/system/${name}`), contents, name);
    }
    const link = host.at('/var/lib/sno-agents/bin/reconfigure');
    t.equal(await readlink(link), 'sno-agents');
  });

  await t.test('what is judged of it', async (t) => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'openshift-etcd', name: `etcd-${NODE.nodeName}` },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'etcd', image: 'registry.test/etcd:1' }],
      },
    };
    for (const namespace of ['openshift-etcd', 'default']) {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
      await admin.create(
        { ...resources.configMaps, plural: 'serviceaccounts' },
        { namespace },
        account,
        limits,
      );
    }
    await admin.create(resources.pods, { namespace: 'openshift-etcd' }, pod, limits);
    const policy = { internalAddress: NODE.address, nodeName: NODE.nodeName, shippingDays: 30 };
    const platform = openShiftPlatform(host.context, policy, async (address) => [address]);
    await withLocalAdministrator(host.paths, async (client) => {
      const found = await platform.facts(client, limits);
      t.same(found.otherFaults, []);
      t.match(
        found.certificates.map(({ name, madeAgain = 'nobody' }) => [name, madeAgain]),
        [
          ['etcd-peer-edge-0', 'nobody'],
          ['aggregator-client-signer', 'the control plane, when it starts'],
          ['administrator', 'nobody'],
          ['kubelet-client', 'nobody'],
        ],
      );
      t.match(found.versions, { kubernetes: 'v1.34.1', openshift: '4.21.0' });

      const { image, securityContext } = await platform.probeMaterial(client, limits);
      t.equal(image, 'registry.test/etcd:1');
      // What the controllers would make of the probe's Deployment; the API server judges its security by its namespace.
      const options = { image, securityContext, token: 'x', hasVolumes: false };
      const objects = probeObjects(options);
      await apply('probe', objects.map((object) => JSON.stringify(object)).join('\n---\n'));
      const place = { namespace: 'sno-validate' };
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
      await client.create(
        { ...resources.configMaps, plural: 'serviceaccounts' },
        place,
        account,
        limits,
      );
      const { template } = parse(stringify(objects.at(-1))).spec;
      const podOf = (name: string, more: object) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name },
        spec: { ...template.spec, automountServiceAccountToken: false, ...more },
      });
      await client.create(resources.pods, place, podOf('probe', {}), limits);
      await t.rejects(
        client.create(resources.pods, place, podOf('other', { hostNetwork: true }), limits),
        { message: /violates PodSecurity/ },
      );
    });
  });

  await t.test('a fault of the cluster is a refusal, and changes nothing', async (t) => {
    const other = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } };
    await admin.create(resources.nodes, {}, other, limits);
    const policy = host.read('/etc/sno-agents/factory.json');
    const { exitCode, all } = await run(host, '--shipping-days', '7');
    t.equal(exitCode, 2);
    t.match(all, /there are other Nodes: worker-1/);
    t.equal(host.read('/etc/sno-agents/factory.json'), policy);
  });

  await t.test('taken back, killed at each program that it runs', async (t) => {
    t.ok((await killedEachTime(host, '--undo')) > 1);
    t.same(await enabled(host), []);
    for (const path of ['factory.json', 'kubelet.env', 'reconfigure/age-identity.txt']) {
      t.notOk(host.has(`/etc/sno-agents/${path}`), path);
    }
  });
});

/** Runs it until it ends by itself; returns how often it was killed before. */
async function killedEachTime(host: TestHost, ...args: string[]): Promise<number> {
  for (let kills = 0; ; kills++) {
    // Each attempt gets one program further than the one before.
    host.write('/calls', '0');
    host.write('/last', String(kills + 1));
    const { exitCode, signal, all } = await run(host, ...args);
    if (signal === 'SIGKILL') continue;
    // What the test itself runs is none of it.
    host.write('/last', '');
    t.match({ exitCode, signal, all }, { exitCode: 0 });
    return kills;
  }
}

import type { Test } from 'tap';
import { runPrepare } from '../../../../agents/reconfigure/prepare/main.ts';
import type { Cluster } from '../../../../lib/config/cluster/cluster.ts';
import { relocatableFiles } from '../../../../lib/relocation/relocatable/machine-config.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

export const NODE = {
  address: '192.0.2.10',
  nodeName: 'edge-0',
  clusterDomain: 'edge.example.test',
} as const;

/** Where the operator of the API server keeps it. */
export const LOCAL_KUBECONFIG =
  '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig';

const { installation: _, ...ofHost } = cluster;
const description: Cluster = {
  ...ofHost,
  controlPlane: 'openshift',
  openshift: {
    releaseImage: 'registry.test/release@sha256:1',
    version: '4.21',
    clusterId: '6f0c8f0e-3b1b-4b44-9f0d-0123456789ab',
    infrastructureName: 'edge-x1',
    platform: 'none',
  },
  sshKeys: [
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHXHt+y5xL6hg/Dj27XI2zxTueZv7aunKpp04a4yIDvC factory',
  ],
};

/** `systemctl`, as far as the steps ask it: a unit is enabled if it has a file in `enabled`. */
const SYSTEMCTL = `mkdir -p "$ROOT/enabled"
case "$1 $2" in
"show dnsmasq.service") echo ActiveState=$(cat "$ROOT/dnsmasq") ;;
"show kubelet.service") echo "Environment=$(cat "$ROOT/kubelet-environment")" ;;
"show nodeip-configuration.service"|"show ovs-configuration.service") cat "$ROOT/network-units" ;;
"try-reload-or-restart crio.service") cp "$ROOT/etc/crio/crio.conf.d/40-sno-pinned-images" "$ROOT/reloaded" 2>/dev/null || rm -f "$ROOT/reloaded" ;;
"show "*)
  if [ -f "$ROOT/enabled/$2" ]; then echo UnitFileState=enabled; else echo UnitFileState=disabled; fi
  if [ -f "$ROOT/unread" ]; then echo NeedDaemonReload=yes; else echo NeedDaemonReload=no; fi ;;
"enable --no-reload") shift 2; for unit; do [ -f "$ROOT/etc/systemd/system/$unit" ] && touch "$ROOT/enabled/$unit" || exit 5; done ;;
"disable --no-reload") rm -f "$ROOT/enabled/$3" ;;
"daemon-reload ") rm -f "$ROOT/unread" ;;
"start --no-block") ;;
*) exit 97 ;;
esac`;

/** An installed host of OpenShift, with the files of its MachineConfig. */
export function openShiftHost(t: Test, options: HostOptions = {}): TestHost {
  const host = testHost(t, { ...options, cluster: { controlPlane: 'openshift' } });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  host.write('/etc/sno-agents/settings.json', JSON.stringify({ retryMs: 10 }));
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.write('/var/lib/sno-agents/bin/sno-agents', 'executable', 0o755);
  host.write('/etc/issue.d/22_clhm.issue');
  host.write('/etc/udev/rules.d/99-other.rules');
  for (const { path, mode, contents } of relocatableFiles(NODE)) host.write(path, contents, mode);
  host.write('/dnsmasq', 'active');
  host.write('/bridge', NODE.address);
  asCoreOs(host);
  host.programs.give('udevadm', '[ "$*" = "control --reload" ]');
  host.programs.give('systemctl', SYSTEMCTL);
  host.programs.give(
    'ip',
    `echo '[{"ifname":"br-node","addr_info":[{"local":"'$(cat $ROOT/bridge)'","prefixlen":32,"scope":"global"}]},'
echo '{"ifname":"br-ex","addr_info":[{"local":"198.51.100.7","prefixlen":24,"scope":"global"},'
echo '{"local":"'$(cat $ROOT/ovn-bridge)'","prefixlen":32,"scope":"global"}]}]'`,
  );
  return host;
}

export const RUNTIMECFG = `registry.test/ocp/release@sha256:${'a'.repeat(64)}`;
const NODE_IP_UNIT = '/etc/systemd/system/nodeip-configuration.service';

/** What only a host of CoreOS has, as a test does: no program but those that are given does anything. */
function asCoreOs(host: TestHost): void {
  host.write('/ovn-bridge', NODE.address);
  host.write(
    '/kubelet-environment',
    `KUBELET_NODE_IP=${NODE.address} KUBELET_NODE_IPS=${NODE.address} KUBELET_NODE_NAME=${NODE.nodeName}`,
  );
  host.write('/network-units', 'LoadState=loaded\nResult=success\n');
  host.write('/usr/lib/os-release', 'ID="rhel"\nVERSION_ID="9.6"\nVARIANT_ID=coreos\n');
  host.write('/run/NetworkManager/no-stub-resolv.conf', 'nameserver 198.51.100.1\n');
  for (const name of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
    host.write(`/etc/kubernetes/manifests/${name}-pod.yaml`, '{}');
  }
  host.write('/etc/crio/crio.conf.d/00-default', '[crio.image]\n');
  host.write(NODE_IP_UNIT, `[Service]\nExecStart=podman run ${RUNTIMECFG} node-ip set\n`);
  const units = [{ name: 'nodeip-configuration.service' }];
  const config = { storage: { files: [{ path: '/etc/resolv.conf' }] }, systemd: { units } };
  host.write('/etc/machine-config-daemon/currentconfig', JSON.stringify({ spec: { config } }));
  host.programs.give('nmstatectl', '[ "$*" = show ] || exit 97');
  host.programs.give(
    'nmcli',
    'case "$*" in *"connection show") cat "$ROOT/profiles" ;; *) exit 97 ;; esac',
  );
  host.write('/profiles', PROFILES.map((name, index) => `uuid-${index}:${name}\n`).join(''));
  for (const name of ['ovs-vsctl', 'chronyc', 'lsblk']) {
    host.programs.give(name, 'exit 97');
  }
  host.programs.give('systemd-run', 'case "$*" in *sno-agents\\ --version) ;; *) exit 97 ;; esac');
}

/** As configure-ovs.sh makes them, beside that of the adapter. */
const PROFILES = [
  ...['Wired connection 1', 'br-ex', 'ovs-port-br-ex', 'ovs-if-br-ex'],
  ...['ovs-port-phys0', 'ovs-if-phys0', 'br-node'],
];

/** What the API serves of what a site changes; a test takes one away. */
export const servedPlurals: Readonly<Record<string, readonly string[]>> = {
  v1: ['secrets'],
  'config.openshift.io/v1': [
    ...['ingresses', 'apiservers', 'proxies', 'imagedigestmirrorsets', 'imagetagmirrorsets'],
  ],
  'operator.openshift.io/v1alpha1': ['imagecontentsourcepolicies'],
  'operator.openshift.io/v1': ['ingresscontrollers'],
  'machineconfiguration.openshift.io/v1': ['machineconfigs'],
};

export function discoveryOf(served: typeof servedPlurals): Record<string, ApiAnswer> {
  const answers = Object.entries(served).map(([apiVersion, plurals]): [string, ApiAnswer] => {
    const resources = plurals.map((name) => ({ name, kind: name, namespaced: false, verbs: [] }));
    const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    return [`GET ${path}`, () => ({ groupVersion: apiVersion, resources })];
  });
  return Object.fromEntries(answers);
}

const MACHINE_CONFIG = 'machineconfiguration.openshift.io';
/** Of a Node whose daemon has nothing to do. */
export const steadyDaemon = {
  [`${MACHINE_CONFIG}/state`]: 'Done',
  [`${MACHINE_CONFIG}/currentConfig`]: 'rendered-master-1',
  [`${MACHINE_CONFIG}/desiredConfig`]: 'rendered-master-1',
};

/** What the API of such a host says; a test changes what it is about. */
export const said = {
  nodes: [
    {
      metadata: { name: 'edge-0', annotations: steadyDaemon },
      status: {
        addresses: [
          { type: 'InternalIP', address: NODE.address },
          { type: 'Hostname', address: 'edge-0' },
        ],
      },
    },
  ] as object[],
  version: { metadata: { name: 'version' }, status: { desired: { version: '4.21.3' } } } as object,
  pool: {
    metadata: { name: 'master' },
    spec: {
      configuration: {
        name: 'rendered-master-1',
        source: [{ name: '00-master' }, { name: '99-master-sno-relocatable' }],
      },
    },
    status: {
      conditions: [
        { type: 'Updated', status: 'True' },
        { type: 'Degraded', status: 'False' },
      ],
    },
  } as object,
};

/** Serves that, behind the kubeconfig of the operator. */
export async function openShiftApi(
  t: Test,
  host: TestHost,
  change: Partial<typeof said> = {},
  others: Readonly<Record<string, ApiAnswer>> = {},
) {
  const { nodes, version, pool } = { ...said, ...change };
  const api = await fakeApi(t, host, {
    'GET /api/v1/nodes': () => listOf(...nodes),
    'GET /apis/config.openshift.io/v1/clusterversions/version': () => version,
    'GET /apis/machineconfiguration.openshift.io/v1/machineconfigpools/master': () => pool,
    'GET /apis/config.openshift.io/v1/ingresses/cluster': () => ({
      metadata: { name: 'cluster' },
      spec: { domain: `apps.${NODE.clusterDomain}` },
    }),
    ...discoveryOf(servedPlurals),
    ...others,
  });
  host.write(LOCAL_KUBECONFIG, host.read(kubeconfigs.bootstrapAdmin), 0o600);
  for (const path of Object.values(kubeconfigs)) if (host.has(path)) host.remove(path);
  return api;
}

/** `reconfigure prepare` with these arguments, and what it says. */
export async function prepare(host: TestHost, ...args: string[]) {
  const lines: string[] = [];
  const output = { write: (text: string) => void lines.push(text), env: {} };
  const code = await runPrepare(host.paths, args, output);
  return { code, text: lines.join('') };
}

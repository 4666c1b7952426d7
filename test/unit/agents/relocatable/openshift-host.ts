import type { Test } from 'tap';
import { runPrepare } from '../../../../agents/reconfigure/prepare/main.ts';
import type { Cluster } from '../../../../lib/config/cluster/cluster.ts';
import { relocatableFiles } from '../../../../lib/relocation/relocatable/machine-config.ts';
import { type ApiAnswer, fakeApi, kubeconfigs, listOf } from '../host/api.ts';
import { cluster } from '../host/cluster.ts';
import { type TestHost, testHost } from '../host/host.ts';

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
"show "*)
  if [ -f "$ROOT/enabled/$2" ]; then echo UnitFileState=enabled; else echo UnitFileState=disabled; fi
  echo NeedDaemonReload=no ;;
"enable --no-reload") shift 2; for unit; do [ -f "$ROOT/etc/systemd/system/$unit" ] && touch "$ROOT/enabled/$unit" || exit 5; done ;;
"disable --no-reload") rm -f "$ROOT/enabled/$3" ;;
"daemon-reload "|"start --no-block") ;;
*) exit 97 ;;
esac`;

/** An installed host of OpenShift, with the files of its MachineConfig. */
export function openShiftHost(t: Test): TestHost {
  const host = testHost(t, { cluster: { controlPlane: 'openshift' } });
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  host.write('/etc/sno-agents/settings.json', JSON.stringify({ retryMs: 10 }));
  host.write('/var/lib/sno-agents/record.json', '{}');
  host.write('/var/lib/sno-agents/bin/sno-agents', 'executable', 0o755);
  host.write('/etc/issue.d/22_clhm.issue');
  host.write('/etc/udev/rules.d/99-other.rules');
  for (const { path, mode, contents } of relocatableFiles(NODE)) host.write(path, contents, mode);
  host.write('/dnsmasq', 'active');
  host.write('/bridge', NODE.address);
  host.programs.give('udevadm', '[ "$*" = "control --reload" ]');
  host.programs.give('systemctl', SYSTEMCTL);
  host.programs.give(
    'ip',
    `echo '[{"ifname":"br-node","addr_info":[{"local":"'$(cat $ROOT/bridge)'","prefixlen":32,"scope":"global"}]}]'`,
  );
  return host;
}

/** What the API of such a host says; a test changes what it is about. */
export const said = {
  nodes: [
    {
      metadata: { name: 'edge-0' },
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

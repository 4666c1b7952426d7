import { join } from 'node:path';
import type { Test } from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import {
  type ReconfigureContext,
  reconfigureContext,
} from '../../../../agents/reconfigure/context.ts';
import type { ReconfigureRequest } from '../../../../lib/change/site/request.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { bridgeProfile, bridgeProfilePath } from '../../../../lib/relocation/relocatable/bridge.ts';
import type { FactoryPolicy } from '../../../../lib/relocation/relocatable/policy.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { authorityCredentials, aVolume } from '../../relocation/site-volume/volumes.ts';
import { input, rendered } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

export const STATE = '/var/lib/sno-agents/reconfigure';
export const REQUEST = `${STATE}/request.json`;
export const TRIAL = '/var/lib/sno-agents/sno-trial/trial.json';
export const INTERNAL = '192.0.2.10';

const policy: FactoryPolicy = {
  schemaVersion: 1,
  internalAddress: INTERNAL,
  nodeName: 'edge-0',
  allowedSigners: [],
  unsignedAllowed: true,
  shippingDays: 30,
  recipient: 'age1x',
};

const NETWORK = `interfaces:
  - name: eno1
    type: ethernet
    state: up
    ipv4:
      enabled: true
      address:
        - ip: 198.51.100.20
          prefix-length: 24
`;

/** What a site wants, unless a test says otherwise. */
export const SITE = `api_version: 1
cluster_name: shop
base_domain: example.com
hostname: till-7
raw_nm_state_config:
${NETWORK.replaceAll(/^/gm, '  ').trimEnd()}
`;

/** With a check, unless it says of checks what it wants itself. */
export const checked = (config: string): string =>
  config.includes('siteChecks:') ? config : `${config}siteChecks: [ping: 198.51.100.1]\n`;

type Volume = Parameters<typeof aVolume>[0];

/** Puts a site volume into a drive; `inserted` counts how often. */
export async function insert(
  host: TestHost,
  volume: Volume = { config: SITE },
  {
    inserted = 1,
    labels = ['SITE-CONFIG'],
    ro = false,
    stick = {},
  }: {
    inserted?: number;
    labels?: (string | null)[];
    ro?: boolean;
    /** What lsblk says differently of it. */
    stick?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<void> {
  if (host.has('/medium')) host.remove('/medium');
  for (const [name, contents] of await aVolume(volume)) host.write(`/medium/${name}`, contents);
  const devices = labels.map((label, at) => ({
    path: `/dev/sd${'bcde'[at]}`,
    kname: `sd${'bcde'[at]}`,
    pkname: null,
    fstype: 'vfat',
    label,
    ro,
    ...stick,
  }));
  for (const { path, kname } of devices) {
    host.write(path);
    host.write(`/sys/class/block/${kname}/diskseq`, `${inserted}\n`);
  }
  host.programs.give('lsblk', `cat <<'END'\n${JSON.stringify({ blockdevices: devices })}\nEND`);
}

/** Programs outside of the sandbox: the test's own, by their names. */
const OUTSIDE = `case "$*" in
*" -- stat "*) echo 6 ;;
*" read-medium "*) exec fake-reader ;;
*" write-medium "*) exec fake-writer ;;
*) while [ "$1" != -- ]; do shift; done; shift; exec "$@" ;;
esac`;

/** A relocatable host, as the factory shipped it: sealed, and with nothing running. */
export async function factoryHost(t: Test, options: HostOptions = {}): Promise<TestHost> {
  const host = testHost(t, options);
  for (const { path, contents, mode, uses } of rendered.files) {
    if (uses.includes('control-plane')) host.write(path, contents, mode);
  }
  for (const { file, manifest } of rendered.staticPods) {
    host.write(join('/etc/kubernetes/manifests', file), manifest, 0o600);
  }
  await saveRenderInput(host.paths, input);
  const { installation: _, ...description } = cluster;
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(description), 0o600);
  host.write('/etc/sno-agents/factory.json', JSON.stringify(policy), 0o600);
  host.write('/etc/sno-agents/kubelet.env', `KUBELET_NODE_IPS=${INTERNAL}\n`);
  host.write('/etc/sno-agents/sealed', '');
  host.write('/etc/hostname', 'edge-0\n');
  host.write('/etc/resolv.conf', 'nameserver 192.0.2.53\n');
  host.write(bridgeProfilePath, bridgeProfile(INTERNAL), 0o600);
  host.write('/var/lib/sno-agents/bin/sno-agents', 'the executable', 0o755);
  host.write('/var/lib/etcd/member/snap/db', 'the database', 0o600);
  host.write('/var/lib/kubelet/pki/kubelet-client-1.pem', 'a certificate', 0o600);
  for (const name of ['eno1', 'br-node', 'lo']) {
    host.write(`/sys/class/net/${name}/address`, '52:54:00:12:34:56\n');
    host.write(`/sys/class/net/${name}/carrier`, '1\n');
  }
  host.programs.give('systemctl', 'case "$*" in show*) echo ActiveState=inactive ;; esac');
  host.programs.give('udevadm', '[ "$*" = "settle --timeout=20" ]');
  host.programs.give('nmstatectl', 'true');
  host.programs.give('ping', '[ "$*" = "-c 1 -W 4 198.51.100.1" ]');
  host.programs.give('nmcli', '[ "$*" = "general reload conf" ]');
  host.programs.give('hostnamectl', 'echo "$2" > "$ROOT/etc/hostname"');
  host.programs.give('lsblk', 'echo \'{"blockdevices":[]}\'');
  // The reader, which is tried with real media elsewhere (test/integration/media).
  host.programs.give('fake-reader', 'cd "$ROOT/medium" && tar -cf - *');
  host.programs.give('fake-writer', 'cat > "$ROOT/written.json"');
  host.programs.give('systemd-run', OUTSIDE);
  return host;
}

/** The step's context once a volume was accepted. */
export async function accepted(host: TestHost, request: ReconfigureRequest) {
  const context: ReconfigureContext = {
    ...(await reconfigureContext(host.paths)),
    settings: host.context.settings,
    hostname: host.context.hostname,
    bootTime: host.context.bootTime,
  };
  const run = (step: Pick<StepBody<ReconfigureContext>, 'run'>) =>
    step.run(context, host.progress());
  const holds = (step: Pick<StepBody<ReconfigureContext>, 'holds'>) =>
    step.holds(context, host.progress());
  return { context, request, run, holds };
}

interface Options extends HostOptions {
  readonly config?: string;
  readonly keys?: true;
  /** Before the volume is inserted. */
  readonly before?: (host: TestHost) => Promise<void>;
}

export async function arrived(t: Test, { config = SITE, keys, before, ...options }: Options = {}) {
  const host = await factoryHost(t, options);
  await before?.(host);
  const credential = keys === true ? { credentials: await authorityCredentials() } : {};
  // With keys it would be encrypted; the files are what counts here.
  await insert(host, { config: checked(config), ...credential });
  const arrival = await arrive(host.paths, AbortSignal.timeout(60_000));
  if (arrival.kind !== 'request') throw new Error(arrival.note);
  bridge(host);
  return { host, ...(await accepted(host, arrival.request)) };
}

/** The host's addresses, as ip says them. */
function bridge(host: TestHost, ...site: readonly string[]): void {
  const of = (ifname: string, local: string, prefixlen: number) => ({
    ifname,
    addr_info: [{ local, prefixlen, scope: 'global' }],
  });
  const all = [of('br-node', INTERNAL, 32), ...site.map((address) => of('eno1', address, 24))];
  host.programs.give('ip', `cat <<'END'\n${JSON.stringify(all)}\nEND`);
}

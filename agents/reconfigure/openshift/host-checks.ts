import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../../lib/base/errors/failure.ts';
import type { Node } from '../../../lib/clients/kube/resources.ts';
import { run } from '../../../lib/host/command.ts';
import { isCoreOs, prettyName } from '../../../lib/host/core-os.ts';
import { exists, ifMissing, readTextIfPresent } from '../../../lib/host/files.ts';
import { type HostAddress, hostAddresses } from '../../../lib/host/network.ts';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { unitProperties } from '../../../lib/host/systemd.ts';
import {
  kubeletDropinPath,
  type RelocatableNode,
} from '../../../lib/relocation/relocatable/machine-config.ts';
import type {
  HostCheck,
  HostFault,
} from '../../../lib/relocation/relocatable/openshift/host-checks.ts';
import { OVN_BRIDGE, profiles } from './bridge.ts';
import { bridgeFaults } from './bridge-faults.ts';
import { NAME_SERVERS } from './network.ts';
import { FOLDERS, filesOfDaemon } from './touched.ts';
import { BRIDGE_UNITS, KUBELET } from './units.ts';

/** What the steps at a site call, besides what every Linux with systemd has. */
const PROGRAMS = ['nmcli', 'nmstatectl', 'ovs-vsctl', 'chronyc'] as const;

/** Of configure-ovs.sh: the bridge, its ports, and their interfaces. */
const BRIDGE_PROFILES = [
  ...[OVN_BRIDGE, `ovs-port-${OVN_BRIDGE}`, `ovs-if-${OVN_BRIDGE}`],
  ...['ovs-port-phys0', 'ovs-if-phys0'],
];

const STATIC_PODS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;

const RUN_MS = 30_000;
/** Of the Node, by the machine-config daemon. */
const MACHINE_CONFIG = 'machineconfiguration.openshift.io';

type Fixed = Pick<RelocatableNode, 'address' | 'nodeName'>;

/** What of the host's own assumptions does not hold, whether it has our MachineConfig or not; nothing is changed. */
export async function coreOsFaults(paths: HostPaths, signal: AbortSignal): Promise<HostFault[]> {
  const osRelease = (await readTextIfPresent(paths.at('/usr/lib/os-release'))) ?? '';
  const missing: string[] = [];
  for (const name of PROGRAMS) if (!(await isInstalled(name))) missing.push(name);
  return [
    ...(isCoreOs(osRelease)
      ? []
      : [
          fault(
            'operating-system',
            `expected RHCOS or SCOS, found ${prettyName(osRelease) ?? 'no /usr/lib/os-release'}: only CoreOS is managed by the machine-config operator`,
          ),
        ]),
    ...missing.map((name) => fault('programs', `the host has no ${name}`)),
    ...(await startFaults(paths, signal)),
    ...(await folderFaults(paths)),
    ...(await networkFaults(missing, signal)),
    ...(await bridgeFaults(paths))
      .filter((each) => !missing.some((name) => each.endsWith(` ${name}`)))
      .map((each) => fault('ovn-bridge-by-hand', `${each}: see docs/first-openshift.md`)),
  ];
}

/** The same for what the MachineConfig has changed, and for what the way back will look for. */
export async function preparedHostFaults(
  paths: HostPaths,
  fixed: Fixed,
  node: Node | undefined,
  signal: AbortSignal,
): Promise<HostFault[]> {
  return [
    ...(await coreOsFaults(paths, signal)),
    ...(node === undefined ? [] : daemonFaults(node)),
    ...(await daemonFileFaults(paths)),
    ...(await kubeletFaults(fixed, signal)),
    ...(await networkUnitFaults(signal)),
    ...(await fileFaults(paths)),
    ...ovnBridgeFaults(await hostAddresses(signal), fixed),
  ];
}

const fault = (check: HostCheck, text: string): HostFault => ({ check, text });

/** As a unit: a shell of root runs what systemd may not. */
async function startFaults(paths: HostPaths, signal: AbortSignal): Promise<HostFault[]> {
  try {
    const limits = { signal, deadlineMs: RUN_MS };
    await runOutsideSandbox(paths.executable, ['--version'], limits);
    return [];
  } catch (error) {
    signal.throwIfAborted();
    const path = paths.onHost(paths.executable);
    const text = `${path} does not run as a unit: ${describeError(error)}: give it the label of programs, "chcon --type=bin_t ${path}"`;
    return [fault('starts-as-unit', text)];
  }
}

/** A rename neither leaves a file system nor takes a place away where one begins. */
async function folderFaults(paths: HostPaths): Promise<HostFault[]> {
  const faults: HostFault[] = [];
  for (const { path, aside } of FOLDERS) {
    const own = await deviceOf(paths.at(path));
    if (own === undefined) continue;
    const others = [await deviceOf(dirname(paths.at(path))), await nearestDevice(paths.at(aside))];
    if (others.every((each) => each === own)) continue;
    const text = `${path} is not on the file system of ${dirname(aside)}: a way back moves it there; install the node without a disk of its own for it`;
    faults.push(fault('movable-folders', text));
  }
  return faults;
}

const deviceOf = async (path: string): Promise<number | undefined> =>
  (await stat(path).catch(ifMissing))?.dev;

/** Of the folder that exists: the others will be made in it. */
async function nearestDevice(path: string): Promise<number | undefined> {
  const above = dirname(path);
  return (await deviceOf(above)) ?? (above === path ? undefined : nearestDevice(above));
}

/** Whether the site's way of taking the bridge apart fits what is there. */
async function networkFaults(
  missing: readonly string[],
  signal: AbortSignal,
): Promise<HostFault[]> {
  const limits = { signal, deadlineMs: RUN_MS };
  const faults: HostFault[] = [];
  if (!missing.includes('nmstatectl')) {
    await run('nmstatectl', ['show'], limits).catch((error: unknown) => {
      signal.throwIfAborted();
      faults.push(fault('nmstate', `"nmstatectl show" fails: ${describeError(error)}`));
    });
  }
  if (missing.includes('nmcli')) return faults;
  const present = (await profiles(signal)).map(({ name }) => name);
  const absent = BRIDGE_PROFILES.filter((name) => !present.includes(name));
  if (absent.length === 0) return faults;
  const text = `NetworkManager has no profile ${absent.join(', ')}, found ${present.join(', ')}: this release makes ${OVN_BRIDGE} in another way`;
  return [...faults, fault('ovn-profiles', text)];
}

function daemonFaults({ metadata: { annotations = {} } }: Node): HostFault[] {
  const state = annotations[`${MACHINE_CONFIG}/state`] ?? 'unknown';
  const current = annotations[`${MACHINE_CONFIG}/currentConfig`] ?? 'none';
  const desired = annotations[`${MACHINE_CONFIG}/desiredConfig`] ?? 'none';
  if (state === 'Done' && current === desired) return [];
  const text = `the Node has the state ${state}, configuration ${current}, desired ${desired}: wait for the machine-config daemon, or see its pod's log`;
  return [fault('machine-config-daemon', text)];
}

async function daemonFileFaults(paths: HostPaths): Promise<HostFault[]> {
  try {
    if ((await filesOfDaemon(paths)).length > 0) return [];
    const text = 'the daemon keeps no present configuration: the way back would not know its files';
    return [fault('machine-config-daemon', text)];
  } catch (error) {
    return [fault('machine-config-daemon', describeError(error))];
  }
}

/** systemd has merged all drop-ins by then. */
async function kubeletFaults({ address, nodeName }: Fixed, signal: AbortSignal) {
  const { Environment = '' } = await unitProperties(KUBELET, ['Environment'], signal);
  const present = Environment.split(' ');
  return [`KUBELET_NODE_IPS=${address}`, `KUBELET_NODE_NAME=${nodeName}`]
    .filter((each) => !present.includes(each))
    .map((each) =>
      fault(
        'kubelet-environment',
        `systemd gives the kubelet no ${each}: a drop-in behind ${kubeletDropinPath} overrides it, see "systemctl cat ${KUBELET}"`,
      ),
    );
}

async function networkUnitFaults(signal: AbortSignal): Promise<HostFault[]> {
  const faults: HostFault[] = [];
  for (const unit of BRIDGE_UNITS) {
    const { LoadState, Result } = await unitProperties(unit, ['LoadState', 'Result'], signal);
    if (LoadState === 'loaded' && Result === 'success') continue;
    const text = `${unit} has LoadState=${LoadState ?? 'unknown'}, Result=${Result ?? 'unknown'}: see "systemctl status ${unit}"`;
    faults.push(fault('network-units', text));
  }
  return faults;
}

async function fileFaults(paths: HostPaths): Promise<HostFault[]> {
  const faults: HostFault[] = [];
  for (const name of STATIC_PODS) {
    const path = `/etc/kubernetes/manifests/${name}-pod.yaml`;
    if (await exists(paths.at(path))) continue;
    faults.push(
      fault('static-pods', `${path} does not exist: see "oc get pods -A | grep ${name}"`),
    );
  }
  const servers = await readTextIfPresent(paths.at(NAME_SERVERS));
  if (/^nameserver \S/m.test(servers ?? '')) return faults;
  const text = `${NAME_SERVERS} names no server: the network of the factory has to give the host one`;
  return [...faults, fault('resolver', text)];
}

function ovnBridgeFaults(addresses: readonly HostAddress[], { address }: Fixed): HostFault[] {
  const own = addresses.filter(({ interfaceName }) => interfaceName === OVN_BRIDGE);
  if (own.some((each) => each.address === address)) return [];
  const found = own.map((each) => each.address).join(', ') || 'no address';
  const text = `${OVN_BRIDGE} has ${found}, not ${address}: 50-sno-internal-address was not run; see "journalctl -u NetworkManager-dispatcher", or restart the host`;
  return [fault('ovn-bridge', text)];
}

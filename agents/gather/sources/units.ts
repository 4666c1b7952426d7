import { outputText } from '../../../lib/host/program-output.ts';

/** Names as systemd.unit(5) allows them: they become arguments and file names. */
const NAME = /^[A-Za-z0-9:_.@][A-Za-z0-9:_.\\@-]*\.[a-z]+$/;
/** If more units failed, they share one cause. */
const MAX_FAILED = 50;

/** Units of either host that bundle readers ask for: of this project, of OpenShift and of the operating system. */
const NAMED = new Set([
  ...[
    'bootkube',
    'aiokube',
    'install-to-disk',
    'approve-csr',
    'progress',
    'kubelet',
    'containerd',
    'crio',
  ],
  ...['release-image', 'release-image-download', 'crio-configure', 'crio-wipe', 'sssd'],
  ...['node-image-pull', 'node-image-overlay', 'node-image-finish', 'kubelet-auto-node-size'],
  ...['machine-config-daemon-host', 'machine-config-daemon-firstboot'],
  ...['machine-config-daemon-pull', 'pivot', 'rpm-ostreed', 'ostree-finalize-staged'],
  ...['NetworkManager', 'NetworkManager-wait-online', 'NetworkManager-dispatcher', 'nmstate'],
  ...['ovs-configuration', 'openvswitch', 'ovs-vswitchd', 'ovsdb-server', 'nodeip-configuration'],
  ...['node-valid-hostname', 'wait-for-primary-ip', 'systemd-networkd', 'systemd-resolved'],
  ...['dnsmasq', 'firewalld', 'nftables', 'chronyd', 'systemd-timesyncd', 'systemd-journald'],
  ...['image-customization', 'ironic', 'ironic-dnsmasq', 'ironic-httpd', 'ironic-ramdisk-logs'],
  ...['master-bmh-update', 'metal3-baremetal-operator', 'chown-gatewayd-key'],
  ...['openshift-azure-routes', 'openshift-gcp-routes', 'pcsd', 'pacemaker', 'corosync'],
  ...['multipathd', 'iscsid', 'auditd', 'systemd-coredump', 'afterburn', 'afterburn-hostname'],
]);
const NAMED_LIKE = /^(sno|ignition|coreos)-/;

export interface GatheredUnit {
  readonly name: string;
  readonly isFailed: boolean;
}

/** `systemctl list-units --plain --no-legend`: name, load, active and sub state, description. */
export function parseUnits(text: string): GatheredUnit[] {
  return text.split('\n').flatMap((line) => {
    // Older versions mark failed units with a dot even so.
    const [name = '', load, active] = line.replace(/^[\u25cf\u25cb\u00d7*\s]+/, '').split(/\s+/);
    if (!NAME.test(name) || load === 'not-found') return [];
    return [{ name, isFailed: active === 'failed' }];
  });
}

/** The units that systemd has loaded. @throws Failure if it does not answer. */
export async function loadedUnits(signal: AbortSignal): Promise<GatheredUnit[]> {
  const options = ['--all', '--full', '--plain', '--no-legend', '--no-pager'];
  return parseUnits(await outputText(['systemctl', 'list-units', ...options], signal));
}

/** The failed units; none if systemd does not answer, which another source reports. */
export async function failedUnits(signal: AbortSignal): Promise<string[]> {
  const units = await loadedUnits(signal).catch(() => []);
  const failed = units.filter(({ isFailed }) => isFailed).map(({ name }) => name);
  return failed.slice(0, MAX_FAILED);
}

/**
 * The units whose journals are wanted, as far as they exist: loaded, or with journal entries. If
 * systemd does not answer, all units named here.
 */
export async function journalUnits(signal: AbortSignal): Promise<string[]> {
  const call = ['journalctl', '--no-pager', '--quiet', '--field=_SYSTEMD_UNIT'] as const;
  const [loaded, logged] = await Promise.all([
    loadedUnits(signal).catch(() => []),
    outputText(call, signal).catch(() => ''),
  ]);
  return selectUnits(loaded, logged.split('\n'));
}

export function selectUnits(loaded: readonly GatheredUnit[], logged: readonly string[]): string[] {
  const failed = loaded.filter(({ isFailed }) => isFailed).slice(0, MAX_FAILED);
  const there = [...loaded.map(({ name }) => name), ...logged.filter((name) => NAME.test(name))];
  const known = there.length === 0 ? [...NAMED].map((name) => `${name}.service`) : there;
  const named = known.filter((unit) => {
    const [, name = ''] = /^(.+)\.service$/.exec(unit) ?? [];
    return NAMED.has(name) || NAMED_LIKE.test(name);
  });
  return [...new Set([...named, ...failed.map(({ name }) => name)])].toSorted();
}

/** Base name of a unit's log: services without their suffix, as in every bundle. */
export const logName = (unit: string): string => unit.replace(/\.service$/, '');

import type { Test } from 'tap';
import { arrive } from '../../../../agents/reconfigure/arrive.ts';
import { cluster } from '../host/cluster.ts';
import type { HostOptions, TestHost } from '../host/host.ts';
import { accepted, checked, factoryHost, INTERNAL, insert } from './site-host.ts';

/** Of the site, on the bridge of the pod network. */
export const SITE_ADDRESS = '198.51.100.20';

/** What a site of OpenShift wants, unless a test says otherwise: a network without DHCP. */
export const STATIC_SITE = `api_version: 1
cluster_name: edge
base_domain: site.test
raw_nm_state_config:
  interfaces:
    - name: eno1
      type: ethernet
      state: up
      ipv4:
        enabled: true
        address: [{ip: ${SITE_ADDRESS}, prefix-length: 24}]
  routes:
    config:
      - {destination: 0.0.0.0/0, next-hop-address: 198.51.100.1, next-hop-interface: eno1}
`;
export const DHCP_SITE = 'api_version: 1\ncluster_name: edge\nbase_domain: site.test\n';

/**
 * States of units are files in `units`; the bridge gets its address from its unit, unless `no-route` exists;
 * none stops while `no-stop` exists, and a sealed host starts no kubelet.
 */
const SYSTEMCTL = `state() { mkdir -p "$ROOT/units"; echo "$2" > "$ROOT/units/$1"; }
case "$*" in
"show --property=UserspaceTimestampMonotonic --value") echo 0 ;;
"show "*) echo ActiveState=$(cat "$ROOT/units/$2" 2>/dev/null || echo inactive) ;;
"stop "*) [ -e "$ROOT/no-stop" ] && exit 1; state "$2" inactive ;;
"start --no-block kubelet.service") [ -e "$ROOT/etc/sno-agents/sealed" ] || state "$3" active ;;
"start --no-block "*) state "$3" active ;;
"restart nodeip-configuration.service")
  [ -e "$ROOT/no-route" ] && exit 1
  mkdir -p "$ROOT/run/nodeip-configuration"
  [ -e "$ROOT/run/nodeip-configuration/primary-ip" ] || echo ${SITE_ADDRESS} > "$ROOT/run/nodeip-configuration/primary-ip" ;;
"restart ovs-configuration.service")
  [ -e "$ROOT/run/configure-ovs-boot-done" ] || echo made > "$ROOT/bridge" ;;
esac`;

/** The bridge has the address of the site while it exists, otherwise the adapter. */
const IP = `site=',{"ifname":"eno1","addr_info":[{"local":"${SITE_ADDRESS}","prefixlen":24,"scope":"global"}]}'
[ -e "$ROOT/bridge" ] && site=',{"ifname":"br-ex","addr_info":[{"local":"${INTERNAL}","prefixlen":32,"scope":"global"},{"local":"${SITE_ADDRESS}","prefixlen":24,"scope":"global"}]}'
echo '[{"ifname":"br-node","addr_info":[{"local":"${INTERNAL}","prefixlen":32,"scope":"global"}]}'"$site]"`;

/** Profiles are lines of `profiles`, as nmcli lists them for programs; for people, in columns. */
const NMCLI = `case "$*" in
"--terse --escape no --fields UUID,NAME connection show") cat "$ROOT/profiles" ;;
*"connection show") echo 'NAME  UUID'; sed 's/^\\([^:]*\\):\\(.*\\)/\\2  \\1/' "$ROOT/profiles" ;;
*"connection delete uuid "*) grep -v "^$7:" "$ROOT/profiles" > "$ROOT/left"; mv "$ROOT/left" "$ROOT/profiles" ;;
"general reload conf") ;;
*) exit 97 ;;
esac`;

const PROFILES = ['wired', 'br-node', 'br-ex', 'ovs-port-phys0', 'ovs-if-phys0', 'ovs-if-br-ex'];

/** A relocatable node of OpenShift, as a factory would ship it. */
export async function openShiftFactory(t: Test, options: HostOptions = {}): Promise<TestHost> {
  const host = await factoryHost(t, options);
  host.remove('/etc/sno-agents/render-input.json');
  host.remove('/etc/kubernetes');
  const openshift = {
    releaseImage: `registry.test/ocp@sha256:${'a'.repeat(64)}`,
    version: '4.21',
    clusterId: cluster.clusterId,
    infrastructureName: 'edge-x1',
    platform: 'none',
  };
  const { installation: _, ...description } = cluster;
  const text = JSON.stringify({ ...description, controlPlane: 'openshift', openshift });
  host.write('/etc/sno-agents/cluster.json', text, 0o600);
  host.write(
    '/etc/sno-agents/kubelet.env',
    `KUBELET_NODE_IPS=${INTERNAL}\nKUBELET_NODE_NAME=edge-0\n`,
  );
  host.write('/run/NetworkManager/no-stub-resolv.conf', 'nameserver 198.51.100.53\n');
  host.write('/profiles', PROFILES.map((name) => `uuid-${name}:${name}\n`).join(''));
  host.programs.give('systemctl', SYSTEMCTL);
  host.programs.give('ip', IP);
  host.programs.give('nmcli', NMCLI);
  host.programs.give('ovs-vsctl', 'rm -f "$ROOT/bridge"');
  return host;
}

/** The same, with a site volume that it has accepted. */
export async function openShiftArrived(
  t: Test,
  { config = STATIC_SITE, ...options }: HostOptions & { readonly config?: string } = {},
) {
  const host = await openShiftFactory(t, options);
  await insert(host, { config: checked(config) });
  const arrival = await arrive(host.paths, AbortSignal.timeout(60_000));
  if (arrival.kind !== 'request') throw new Error(arrival.note);
  return { host, ...(await accepted(host, arrival.request)) };
}

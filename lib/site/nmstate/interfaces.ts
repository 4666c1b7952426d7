import { isIP } from 'node:net';
import { suggest } from '../../errors/suggest.ts';
import { isRecord } from '../../json.ts';
import {
  at,
  entriesOf,
  listMisfit,
  type Misfit,
  mistypedKeys,
  noMapping,
  type Path,
} from './misfit.ts';
import { controllerMisfits, portsOf } from './ports.ts';
import { type Interface, interfacesOf, isWanted, referenceMisfit } from './references.ts';

const TYPES = [
  ...['bond', 'dummy', 'ethernet', 'hsr', 'infiniband', 'ipsec', 'ipvlan', 'linux-bridge'],
  ...['loopback', 'mac-vlan', 'mac-vtap', 'macsec', 'ovs-bridge', 'ovs-interface', 'veth'],
  ...['vlan', 'vrf', 'vxlan', 'xfrm'],
];
const STATES = ['up', 'down', 'absent', 'ignore'];
const KEYS = [
  ...['name', 'type', 'state', 'identifier', 'mac-address', 'mtu', 'description', 'profile-name'],
  ...['ipv4', 'ipv6', 'wait-ip', 'controller', 'copy-mac-from', 'accept-all-mac-addresses'],
  ...['link-aggregation', 'vlan', 'bridge', 'ethernet', 'ethtool', 'veth', 'vrf', 'vxlan', 'hsr'],
  ...['infiniband', 'ipvlan', 'mac-vlan', 'mac-vtap', 'macsec', 'xfrm', 'libreswan', 'lldp'],
  ...['mptcp', 'ovs-db', '802.1x', 'dispatch', 'driver', 'min-mtu', 'max-mtu'],
  'permanent-mac-address',
];
const IP_KEYS = [
  ...['enabled', 'dhcp', 'autoconf', 'address', 'auto-dns', 'auto-gateway', 'auto-routes'],
  ...['auto-table-id', 'auto-route-metric', 'dhcp-client-id', 'dhcp-duid', 'addr-gen-mode'],
  ...['token', 'allow-extra-address', 'dhcp-send-hostname', 'dhcp-custom-hostname', 'forwarding'],
];
const ADDRESS_KEYS = [
  ...['ip', 'prefix-length', 'mptcp-flags', 'valid-life-time', 'preferred-life-time'],
];
const VLAN_KEYS = [
  ...['base-iface', 'id', 'protocol', 'registration-protocol', 'reorder-headers', 'loose-binding'],
];
/** More than any host has; comparing all pairs stays fast. */
const MOST_INTERFACES = 512;
/** Types that may share a name with another: an Open vSwitch bridge and its own interface. */
const isOfOpenVSwitch = (type: unknown) => typeof type === 'string' && /^ovs-/.test(type);

export function interfaceMisfits(document: Record<string, unknown>): Misfit[] {
  const { interfaces } = document;
  if (Array.isArray(interfaces) && interfaces.length > MOST_INTERFACES) {
    const expected = `at most ${MOST_INTERFACES} interfaces`;
    const found = `${interfaces.length}`;
    return [{ path: ['interfaces'], expected, found, fix: 'Remove some.' }];
  }
  const all = interfacesOf(document);
  const fix = 'Write it as interfaces: [{name: eno1, type: ethernet, state: up, ...}].';
  return [
    ...listMisfit(document.interfaces, ['interfaces'], fix),
    ...entriesOf(document.interfaces, ['interfaces']).flatMap(({ entry, path }) =>
      isRecord(entry) ? oneInterface(entry, path) : [noMapping(path)],
    ),
    ...twiceNamed(all),
    ...controllerMisfits(all.filter(isWanted), all),
    ...all.filter(isWanted).flatMap((each) => vlanMisfits(each, all)),
  ];
}

/** The network adapters that the document expects on the host. */
export function expectedOnHost(document: Record<string, unknown>): string[] {
  const all = interfacesOf(document);
  const byName = ({ entry }: Interface) =>
    entry.type === 'ethernet' && entry.identifier !== 'mac-address';
  const made = new Set(all.filter((each) => !byName(each)).map(({ name }) => name));
  const named = all.filter(isWanted).flatMap((each) => {
    const base = at(each.entry, 'vlan', 'base-iface');
    return [
      ...(byName(each) ? [each.name] : []),
      ...portsOf(each.entry).map(({ name }) => name),
      ...(typeof base === 'string' ? [base] : []),
    ];
  });
  return [...new Set(named)].filter((name) => !made.has(name));
}

function oneInterface(entry: Record<string, unknown>, path: Path): Misfit[] {
  const { name, type, state, identifier } = entry;
  const mac = entry['mac-address'];
  const misfits = mistypedKeys(entry, KEYS, path);
  const wrong = (key: string, expected: string, fix: string) =>
    misfits.push({ path: [...path, key], expected, fix });
  const byMac = identifier === 'mac-address';
  if (typeof name !== 'string' || name === '') {
    wrong(
      'name',
      'a string',
      'Name the interface; with identifier: mac-address, any name is valid.',
    );
  } else if (!byMac && !/^[^\s/\p{C}]{1,15}$/u.test(name)) {
    const expected = 'at most 15 characters without spaces and slashes';
    wrong('name', expected, 'Shorten it: the kernel allows no more.');
  }
  if (typeof type !== 'string' || !TYPES.includes(type)) {
    const near = typeof type === 'string' ? suggest(type, TYPES) : undefined;
    const fix =
      near === undefined ? 'Write type: ethernet for a network adapter.' : `Did you mean ${near}?`;
    if (state !== 'absent' || type !== undefined) wrong('type', `one of ${TYPES.join(', ')}`, fix);
  }
  if (state !== undefined && (typeof state !== 'string' || !STATES.includes(state))) {
    wrong('state', `one of ${STATES.join(', ')}`, 'Write state: up.');
  }
  if (identifier !== undefined && !byMac && identifier !== 'name') {
    wrong('identifier', 'name or mac-address', 'Omit it for name.');
  }
  const isMac = typeof mac === 'string' && /^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5,19}$/.test(mac);
  if (byMac ? !isMac : mac !== undefined && !isMac) {
    const expected = 'six bytes such as 52:54:00:12:34:56';
    wrong('mac-address', expected, 'Copy it from the adapter, in quotes.');
  }
  return [...misfits, ...addressMisfits(entry, 4, path), ...addressMisfits(entry, 6, path)];
}

function addressMisfits(entry: Record<string, unknown>, family: 4 | 6, path: Path): Misfit[] {
  const name = `ipv${family}`;
  const below = [...path, name];
  const value = entry[name];
  if (value === undefined) return [];
  if (!isRecord(value)) return [noMapping(below)];
  const fix =
    family === 4
      ? 'Write it as address: [{ip: 192.168.7.10, prefix-length: 24}].'
      : 'Write it as address: [{ip: fd00::10, prefix-length: 64}].';
  return [
    ...mistypedKeys(value, IP_KEYS, below),
    ...listMisfit(value.address, [...below, 'address'], fix),
    ...entriesOf(value.address, [...below, 'address']).flatMap(({ entry, path }): Misfit[] => {
      if (!isRecord(entry)) return [{ path, expected: 'a mapping with ip and prefix-length', fix }];
      const { ip } = entry;
      const length = entry['prefix-length'];
      const misfits = mistypedKeys(entry, ADDRESS_KEYS, path);
      if (typeof ip !== 'string' || isIP(ip) !== family) {
        misfits.push({ path: [...path, 'ip'], expected: `an IPv${family} address`, fix });
      }
      const longest = family === 4 ? 32 : 128;
      if (!isWhole(length, 0, longest)) {
        const expected = `an integer from 0 to ${longest}`;
        misfits.push({ path: [...path, 'prefix-length'], expected, fix });
      }
      return misfits;
    }),
  ];
}

function twiceNamed(all: readonly Interface[]): Misfit[] {
  return all.flatMap(({ name, path, entry }, index) => {
    const before = all.slice(0, index).some((other) => {
      if (other.name !== name) return false;
      return ![entry.type, other.entry.type].every(isOfOpenVSwitch);
    });
    const fix = 'Merge the two entries.';
    return before ? [{ path: [...path, 'name'], expected: 'a unique name', fix }] : [];
  });
}

function vlanMisfits({ entry, path, name }: Interface, all: readonly Interface[]): Misfit[] {
  if (entry.type !== 'vlan') return [];
  const { vlan } = entry;
  const below = [...path, 'vlan'];
  const fix = 'Write it as vlan: {base-iface: eno1, id: 100}.';
  if (!isRecord(vlan)) return [{ path: below, expected: 'a mapping with base-iface and id', fix }];
  const base = vlan['base-iface'];
  const misfits = mistypedKeys(vlan, VLAN_KEYS, below);
  if (typeof base !== 'string' || base === '' || base === name) {
    misfits.push({ path: [...below, 'base-iface'], expected: 'another interface', fix });
  } else {
    misfits.push(...referenceMisfit(all, base, [...below, 'base-iface']));
  }
  if (!isWhole(vlan.id, 1, 4094)) {
    misfits.push({ path: [...below, 'id'], expected: 'an integer from 1 to 4094', fix });
  }
  return misfits;
}

/** nmstate accepts numbers as strings too. */
function isWhole(value: unknown, least: number, most: number): boolean {
  if (typeof value === 'string' && !/^\d+$/.test(value)) return false;
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  const number = Number(value);
  return Number.isInteger(number) && number >= least && number <= most;
}

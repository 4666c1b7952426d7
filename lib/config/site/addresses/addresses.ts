import {
  addressOf,
  bitsOf,
  type Family,
  familyOf,
  numberOf,
} from '../../../base/network/address.ts';
import {
  contains,
  type Network,
  networkText,
  parseNetwork,
} from '../../../base/network/network.ts';
import { at, entriesOf, type Misfit } from '../nmstate/misfit.ts';
import { portsOf } from '../nmstate/ports.ts';
import { type Interface, isWanted, namesOf } from '../nmstate/references.ts';
import { isOff, isOn } from '../nmstate/values.ts';
import { type AddressPlan, isDynamic, portNames, type StaticAddress } from './plan.ts';

/** Where the node's own address is to be. */
export interface MachineNetworks {
  /** CIDR. */
  readonly networks: readonly string[];
  /** The field of the configuration, in messages. */
  readonly field: string;
  readonly isDefault: boolean;
}

/** Addresses that no host can have, or that cannot be the node's. */
export function addressFaults(plan: AddressPlan, machine: MachineNetworks | undefined): Misfit[] {
  return [
    ...plan.addresses.flatMap(ofKind),
    ...ofTwice(plan),
    ...ofNone(plan),
    ...(machine === undefined ? [] : ofMachineNetworks(plan, machine)),
  ];
}

export const LOOPBACK = 'of loopback';

/** Ranges of which no address is a host's. */
const UNUSABLE: readonly (readonly [range: string, what: string])[] = [
  ['0.0.0.0/8', 'of "this network"'],
  ['127.0.0.0/8', LOOPBACK],
  ['224.0.0.0/4', 'of multicast'],
  ['240.0.0.0/4', 'of no host'],
  ['::/128', 'of no host'],
  ['::1/128', LOOPBACK],
  ['::ffff:0:0/96', 'of IPv4'],
  ['ff00::/8', 'of multicast'],
];

/** What an address is, if no host can have it: in words, as in "an address of multicast". */
export function unusableAddress(ip: string): string | undefined {
  return UNUSABLE.find(([range]) => {
    const network = parseNetwork(range);
    return network !== undefined && contains(network, ip);
  })?.[1];
}

/** "The address of the network itself" or "its broadcast address"; undefined for an address of a host. */
export function endOf({ family, address, prefix }: Network, ip: string): string | undefined {
  // RFC 3021 and RFC 6164: a network of two addresses has no ends.
  if (bitsOf(family) - prefix < 2) return undefined;
  if (ip === address) return 'the address of the network itself';
  const size = 1n << BigInt(bitsOf(family) - prefix);
  const last = addressOf(numberOf(address) + size - 1n, family);
  return family === 'IPv4' && ip === last ? 'its broadcast address' : undefined;
}

function ofKind({ path, owner, ip, prefix, network }: StaticAddress): Misfit[] {
  const kind = unusableAddress(ip);
  const fix = 'Use a free address of the network.';
  if (kind !== undefined && !(owner.entry.type === 'loopback' && kind === LOOPBACK)) {
    return [{ path, expected: 'an address of a host', found: `${ip}, an address ${kind}`, fix }];
  }
  if (prefix === 0) {
    const expected = 'the prefix length of its network';
    return [
      {
        path: [...path.slice(0, -1), 'prefix-length'],
        expected,
        found: '0',
        fix: 'Write it, such as 24.',
      },
    ];
  }
  const end = endOf(network, ip);
  if (end === undefined) return [];
  const expected = `an address of a host in ${networkText(network)}`;
  return [{ path, expected, found: `${ip}, ${end}`, fix }];
}

const LINK_LOCAL = parseNetwork('fe80::/10');

/** VRFs are networks of their own, and so is each link for the addresses that count there only. */
function ofTwice({ addresses, interfaces }: AddressPlan): Misfit[] {
  const inVrf = new Set(
    interfaces
      .filter(({ entry }) => entry.type === 'vrf')
      .flatMap(({ entry }) => portsOf(entry).map(({ name }) => name)),
  );
  const seen = new Map<string, string>();
  return addresses
    .filter(({ owner }) => !namesOf(owner).some((name) => inVrf.has(name)))
    .filter(({ ip }) => LINK_LOCAL === undefined || !contains(LINK_LOCAL, ip))
    .flatMap(({ path, ip, owner }) => {
      const other = seen.get(ip);
      seen.set(ip, owner.name);
      if (other === undefined) return [];
      const found = `${ip}, which ${other} has too`;
      const fix = 'Change one of the two.';
      return [{ path, expected: 'an address of one interface', found, fix }];
    });
}

/** Without it the node would wait for its address, and the installation would fail. */
function ofMachineNetworks(
  plan: AddressPlan,
  { networks, field, isDefault }: MachineNetworks,
): Misfit[] {
  const { addresses, interfaces } = plan;
  return (['IPv4', 'IPv6'] as const).flatMap((family): Misfit[] => {
    const own = networks.filter((cidr) => familyOf(cidr) === family);
    const given = addresses.filter((each) => each.family === family);
    const [first] = given.filter(({ owner }) => owner.entry.type !== 'loopback');
    if (own.length === 0) return [];
    if (first === undefined)
      return ofMissingFamily(
        plan,
        family,
        `${field} (${own.join(', ')}${isDefault ? ', the default' : ''})`,
      );
    if (interfaces.some((each) => isWanted(each) && isDynamic(each, family))) return [];
    if (own.some((cidr) => given.some(({ ip }) => isIn(cidr, ip)))) return [];
    const expected = `an address of the node in ${field} (${own.join(', ')}${isDefault ? ', the default' : ''})`;
    const found = given
      .map(({ ip, prefix }) => `${ip}/${prefix}`)
      .slice(0, 5)
      .join(', ');
    const fix = `Set ${field} to the network of the node, such as ${networkText(first.network)}, or declare the adapter that has dhcp: true.`;
    return [{ path: first.path, expected, found, fix }];
  });
}

/** The cluster has a family of which the host would have no address. */
function ofMissingFamily(plan: AddressPlan, family: Family, networks: string): Misfit[] {
  const name = family === 'IPv4' ? 'ipv4' : 'ipv6';
  const up = hostInterfaces(plan).filter(isWanted);
  if (up.length === 0 || up.some((one) => mayHave(one, name, plan))) return [];
  return [
    {
      path: ['interfaces'],
      expected: `an address of the node in ${networks}`,
      found: `no interface with ${family}`,
      fix: `Write enabled: true below ${name} of the adapter of the node, and address or dhcp: true.`,
    },
  ];
}

function isIn(cidr: string, ip: string): boolean {
  const network = parseNetwork(cidr);
  return network !== undefined && contains(network, ip);
}

/** Types whose interfaces are made by nmstate, without addresses unless it is told otherwise. */
const isAdapter = (type: unknown) =>
  type === undefined || ['ethernet', 'unknown'].includes(`${type}`);

/** Neither given nor asked for: nmstate takes such a family for one that is off. */
function isWithoutSource(family: unknown, name: 'ipv4' | 'ipv6'): boolean {
  const isAsked = !isOff(at(family, 'dhcp')) || (name === 'ipv6' && !isOff(at(family, 'autoconf')));
  return !isAsked && entriesOf(at(family, 'address'), []).length === 0;
}

/** Those through which others could reach the host. */
const hostInterfaces = ({ interfaces }: AddressPlan): Interface[] =>
  interfaces.filter(({ entry }) => entry.type !== 'loopback' && entry.state !== 'ignore');

/** Whether an interface that is up is given an address of a family, or asks for one, or may have one of which the document says nothing. */
function mayHave(one: Interface, name: 'ipv4' | 'ipv6', { interfaces }: AddressPlan): boolean {
  const ports = portNames(interfaces);
  const isPort = one.entry.type !== 'ovs-interface' && namesOf(one).some((each) => ports.has(each));
  if (one.entry.type === 'ovs-bridge' || isPort) return false;
  const enabled = at(one.entry, name, 'enabled');
  if (!isOn(enabled)) return isAdapter(one.entry.type) && !isOff(enabled);
  return !isWithoutSource(at(one.entry, name), name);
}

/** The host would have no address at all. */
function ofNone(plan: AddressPlan): Misfit[] {
  const own = hostInterfaces(plan);
  if (own.length === 0) return [];
  const up = own.filter(isWanted);
  const path = ['interfaces'];
  const fix = 'Write state: up for the adapter of the node; declare it, if it is another one.';
  if (up.length === 0) {
    const found = own
      .map(({ name, entry }) => `${name} ${entry.state}`)
      .slice(0, 8)
      .join(', ');
    return [{ path, expected: 'an interface that is up', found, fix }];
  }
  const families = ['ipv4', 'ipv6'] as const;
  if (up.some((one) => families.some((name) => mayHave(one, name, plan)))) return [];
  const found = 'none in which ipv4 or ipv6 is enabled, with an address or dhcp: true';
  const expected = 'an interface that has addresses';
  const source = 'Write enabled: true below ipv4 or ipv6 of it, and address or dhcp: true.';
  return [{ path, expected, found, fix: source }];
}

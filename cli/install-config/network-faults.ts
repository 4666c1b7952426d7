import { jsonPath } from '../../lib/ignition/config.ts';
import type { Family } from '../../lib/network/address.ts';
import { networkText } from '../../lib/network/network.ts';
import type { ConfigDocument } from './document.ts';
import type { Fault } from './fault.ts';
import {
  defaultNetworks,
  HOST_PREFIX_DEFAULTS,
  NETWORK_LISTS,
  type NetworkList,
} from './network-defaults.ts';
import { type NamedNetwork, overlaps, usableNetwork } from './networks.ts';

interface Found extends NamedNetwork {
  byDefault: boolean;
}

/** One of the lists as far as it can be read. */
interface FoundList {
  name: NetworkList;
  isGiven: boolean;
  /** Every entry is a network that can be used. */
  isWhole: boolean;
  networks: Found[];
}

type Place = readonly (string | number)[];
type FaultAt = (path: Place, expected: string, found: string, fix: string) => Fault;

/**
 * Faults between fields of `networking`, looked for in whatever fields are valid by
 * themselves, so that they are found together with all others.
 */
export function networkFaults(value: unknown, document: ConfigDocument): Fault[] {
  const faultAt: FaultAt = (path, expected, found, fix) => ({
    position: document.positionOf(path),
    field: jsonPath(path),
    expected,
    found,
    fix,
  });
  const networking = child(value, 'networking');
  const given = NETWORK_LISTS.map((name) => foundList(networking, name));
  const decisive = given.find(({ isGiven, isWhole }) => isGiven && isWhole);
  const families = decisive === undefined ? (['IPv4'] as const) : familiesIn(decisive);
  const lists = given.map((list) => (list.isGiven ? list : defaultList(list.name, families)));
  return [
    ...overlapFaults(lists, faultAt),
    ...lists.flatMap((list) => [
      ...familyFaults(list, decisive, faultAt),
      ...(list.name === 'machineNetwork' ? [] : repeatedFamilyFaults(list, faultAt)),
    ]),
    ...hostPrefixFaults(networking, faultAt),
    ...serviceSizeFaults(lists, faultAt),
  ];
}

function overlapFaults(lists: readonly FoundList[], faultAt: FaultAt): Fault[] {
  // The user's come last, so that a fault points to a line that exists.
  const ordered = lists
    .flatMap(({ networks }) => networks)
    .toSorted((a, b) => Number(b.byDefault) - Number(a.byDefault));
  return overlaps(ordered).map(([later, earlier]) =>
    faultAt(
      later.path,
      `a network apart from ${jsonPath(earlier.path)} (${networkText(earlier.network)}${earlier.byDefault ? ', the default' : ''})`,
      networkText(later.network),
      'Change one of the two: their addresses overlap.',
    ),
  );
}

/** Hosts, pods and services must have the same families, and the same one first: it is the primary one. */
function familyFaults(list: FoundList, decisive: FoundList | undefined, faultAt: FaultAt): Fault[] {
  if (decisive === undefined || list === decisive || !list.isWhole) return [];
  const wanted = familiesIn(decisive);
  const found = familiesIn(list);
  if (found.join() === wanted.join()) return [];
  const path = ['networking', list.name];
  const expected = `${inOrderText(wanted)}, as in networking.${decisive.name}`;
  if (!list.isGiven) {
    const fix = 'Name the network that the host is in: there is no default for IPv6.';
    return [faultAt(path, expected, 'nothing', fix)];
  }
  const fix = 'Give machine, cluster and service networks the same families in the same order.';
  return [faultAt(path, expected, inOrderText(found), fix)];
}

/** The controller-manager and the API server take one network of each family. */
function repeatedFamilyFaults({ name, networks }: FoundList, faultAt: FaultAt): Fault[] {
  return networks.flatMap(({ path, network }, index) => {
    const earlier = networks.slice(0, index).find((each) => each.network.family === network.family);
    if (earlier === undefined) return [];
    const expected = `one ${network.family} network in networking.${name}`;
    const fix = `Remove it, or ${networkText(earlier.network)}.`;
    return [faultAt(path, expected, `${networkText(network)} besides`, fix)];
  });
}

/** The smallest share of a node: the network's address, the gateway's, a pod's and a broadcast. */
const LONGEST_HOST_PREFIX = { IPv4: 30, IPv6: 126 } as const;
/** How many bits of an IPv6 network the controller-manager tells nodes apart by (its `cidrset`). */
const MOST_IPV6_NODE_BITS = 16;

function hostPrefixFaults(networking: unknown, faultAt: FaultAt): Fault[] {
  const list = child(networking, 'clusterNetwork');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index): Fault[] => {
    const cidr = child(entry, 'cidr');
    const network = typeof cidr === 'string' ? usableNetwork(cidr) : undefined;
    if (network === undefined) return [];
    const { family, prefix } = network;
    const given = child(entry, 'hostPrefix');
    const hostPrefix = given ?? HOST_PREFIX_DEFAULTS[family];
    const most =
      family === 'IPv4'
        ? LONGEST_HOST_PREFIX.IPv4
        : Math.min(prefix + MOST_IPV6_NODE_BITS, LONGEST_HOST_PREFIX.IPv6);
    if (!isHostPrefix(hostPrefix) || (prefix <= hostPrefix && hostPrefix <= most)) return [];
    const path = ['networking', 'clusterNetwork', index, 'hostPrefix'];
    const expected = `from ${prefix} to ${most} in ${networkText(network)}`;
    const found = `${hostPrefix}${given === undefined ? ' by default' : ''}`;
    const limit =
      family === 'IPv4' ? '' : `, and not more than ${MOST_IPV6_NODE_BITS} bits longer for IPv6`;
    const fix = `Give a node's share of the network that is no larger than the network${limit}.`;
    return [faultAt(path, expected, found, fix)];
  });
}

/** Any other is a fault by itself. */
function isHostPrefix(value: unknown): value is number {
  return typeof value === 'number' && value >= 1 && value <= LONGEST_HOST_PREFIX.IPv6;
}

/**
 * The API server takes at most 2^20 service addresses (before Kubernetes 1.33; the
 * OpenShift installer takes only /112 for IPv6), and the tenth has to be in it: it is DNS's.
 */
const SERVICE_PREFIXES = {
  IPv4: { least: 12, most: 28, usual: 16 },
  IPv6: { least: 108, most: 124, usual: 112 },
} as const;

function serviceSizeFaults(lists: readonly FoundList[], faultAt: FaultAt): Fault[] {
  const services = lists.find(({ name }) => name === 'serviceNetwork')?.networks ?? [];
  return services.flatMap(({ path, network }) => {
    const { least, most, usual } = SERVICE_PREFIXES[network.family];
    if (least <= network.prefix && network.prefix <= most) return [];
    const expected = `a prefix length from ${least} to ${most}`;
    return [faultAt(path, expected, networkText(network), `Choose one such as /${usual}.`)];
  });
}

function foundList(networking: unknown, name: NetworkList): FoundList {
  const list = child(networking, name);
  if (!Array.isArray(list)) {
    return { name, isGiven: list !== undefined, isWhole: false, networks: [] };
  }
  const networks = list.flatMap((entry: unknown, index): Found[] => {
    const cidr = typeof entry === 'string' ? entry : child(entry, 'cidr');
    const network = typeof cidr === 'string' ? usableNetwork(cidr) : undefined;
    if (network === undefined) return [];
    const path = ['networking', name, index, ...(typeof entry === 'string' ? [] : ['cidr'])];
    return [{ path, network, byDefault: false }];
  });
  const isWhole = list.length > 0 && networks.length === list.length;
  return { name, isGiven: true, isWhole, networks };
}

function defaultList(name: NetworkList, families: readonly Family[]): FoundList {
  const networks = defaultNetworks(name, families).flatMap((cidr): Found[] => {
    const network = usableNetwork(cidr);
    return network === undefined ? [] : [{ path: ['networking', name], network, byDefault: true }];
  });
  return { name, isGiven: false, isWhole: true, networks };
}

function familiesIn({ networks }: FoundList): Family[] {
  return [...new Set(networks.map(({ network }) => network.family))];
}

function inOrderText(families: readonly Family[]): string {
  return families.length === 0 ? 'none' : families.join(' and then ');
}

function child(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

import type { Family } from '../../lib/base/network/address.ts';
import {
  type Network,
  networkText,
  overlap,
  parseNetwork,
} from '../../lib/base/network/network.ts';
import { fieldName } from '../../lib/config/file/fault.ts';
import {
  defaultNetworks,
  HOST_PREFIX_DEFAULTS,
  NETWORK_LISTS,
  type NetworkList,
} from '../../lib/config/site/network-defaults.ts';
import type { Config, Refinement } from './refinement.ts';

interface Found {
  path: readonly (string | number)[];
  network: Network;
  byDefault: boolean;
}

interface FoundList {
  name: NetworkList;
  isGiven: boolean;
  /** Omitted, or every entry is valid; otherwise its networks are not known. */
  isWhole: boolean;
  networks: Found[];
}

/** Faults between the fields of `networking`. */
export function networkRefinements({ sound, isGiven }: Config): Refinement[] {
  const given = NETWORK_LISTS.map((name) => givenList(name, sound.networking, isGiven));
  const decisive = given.find((list) => list.isGiven && list.isWhole);
  const families = decisive === undefined ? (['IPv4'] as const) : familiesIn(decisive);
  const lists = given.map((list) => (list.isGiven ? list : defaultList(list.name, families)));
  return [
    ...overlapping(lists),
    ...lists.flatMap((list) => [
      ...ofOtherFamilies(list, decisive),
      ...(list.name === 'machineNetwork' ? [] : ofRepeatedFamilies(list)),
    ]),
    ...ofHostPrefixes(sound.networking?.clusterNetwork ?? []),
    ...ofServiceSizes(lists),
  ];
}

/** Each network that overlaps with an earlier one. */
function overlapping(lists: readonly FoundList[]): Refinement[] {
  // The user's lists come last, so that a fault points to an existing line.
  const ordered = lists
    .flatMap(({ networks }) => networks)
    .toSorted((a, b) => Number(b.byDefault) - Number(a.byDefault));
  return ordered.flatMap(({ path, network }, index) => {
    const earlier = ordered.slice(0, index).find((each) => overlap(each.network, network));
    if (earlier === undefined) return [];
    const other = `${networkText(earlier.network)}${earlier.byDefault ? ', the default' : ''}`;
    return {
      path,
      expected: `a network that does not overlap ${fieldName(earlier.path)} (${other})`,
      found: networkText(network),
      fix: 'Change one of the two: their addresses overlap.',
    };
  });
}

/**
 * Hosts, pods and services must have the same families, and the same primary one,
 * which comes first.
 */
function ofOtherFamilies(list: FoundList, decisive: FoundList | undefined): Refinement[] {
  if (decisive === undefined || list === decisive || !list.isWhole) return [];
  const wanted = familiesIn(decisive);
  const found = familiesIn(list);
  if (found.join() === wanted.join()) return [];
  const path = ['networking', list.name];
  const expected = `${inOrderText(wanted)}, as in networking.${decisive.name}`;
  if (!list.isGiven) {
    const fix = 'Set the network of the host: there is no default for IPv6.';
    return [{ path, expected, found: 'nothing', fix }];
  }
  const fix = 'Use the same families in the same order for machine, cluster and service networks.';
  return [{ path, expected, found: inOrderText(found), fix }];
}

/** The controller-manager and the API server take one network of each family. */
function ofRepeatedFamilies({ name, networks }: FoundList): Refinement[] {
  return networks.flatMap(({ path, network }, index) => {
    const earlier = networks.slice(0, index).find((each) => each.network.family === network.family);
    if (earlier === undefined) return [];
    const expected = `one ${network.family} network in networking.${name}`;
    const fix = `Remove it, or ${networkText(earlier.network)}.`;
    return [{ path, expected, found: `${networkText(network)} as well`, fix }];
  });
}

/** The smallest subnet of a node: the network's address, the gateway's, a pod's and a broadcast. */
const LONGEST_HOST_PREFIX = { IPv4: 30, IPv6: 126 } as const;
/**
 * How many bits of an IPv6 network the controller-manager uses to distinguish nodes
 * (its `cidrset`).
 */
const MOST_IPV6_NODE_BITS = 16;

function ofHostPrefixes(
  list: readonly { cidr: string; hostPrefix: number | undefined }[],
): Refinement[] {
  return list.flatMap(({ cidr, hostPrefix: given }, index): Refinement[] => {
    const network = parseNetwork(cidr);
    if (network === undefined) return [];
    const { family, prefix } = network;
    const hostPrefix = given ?? HOST_PREFIX_DEFAULTS[family];
    const most =
      family === 'IPv4'
        ? LONGEST_HOST_PREFIX.IPv4
        : Math.min(prefix + MOST_IPV6_NODE_BITS, LONGEST_HOST_PREFIX.IPv6);
    if (prefix <= hostPrefix && hostPrefix <= most) return [];
    const limit =
      family === 'IPv4' ? '' : `, and at most ${MOST_IPV6_NODE_BITS} bits longer for IPv6`;
    return [
      {
        path: ['networking', 'clusterNetwork', index, 'hostPrefix'],
        expected: `from ${prefix} to ${most} in ${networkText(network)}`,
        found: `${hostPrefix}${given === undefined ? ' by default' : ''}`,
        fix: `Set a node's share that is no larger than the network${limit}.`,
      },
    ];
  });
}

/**
 * The API server accepts at most 2^20 service addresses (before Kubernetes 1.33;
 * the OpenShift installer accepts only /112 for IPv6), and the tenth, which is for
 * DNS, must exist.
 */
const SERVICE_PREFIXES = {
  IPv4: { least: 12, most: 28, usual: 16 },
  IPv6: { least: 108, most: 124, usual: 112 },
} as const;

function ofServiceSizes(lists: readonly FoundList[]): Refinement[] {
  const services = lists.find(({ name }) => name === 'serviceNetwork')?.networks ?? [];
  return services.flatMap(({ path, network }) => {
    const { least, most, usual } = SERVICE_PREFIXES[network.family];
    if (least <= network.prefix && network.prefix <= most) return [];
    const expected = `a prefix length from ${least} to ${most}`;
    return [{ path, expected, found: networkText(network), fix: `Choose one such as /${usual}.` }];
  });
}

function givenList(
  name: NetworkList,
  networking: Config['sound']['networking'],
  isGiven: Config['isGiven'],
): FoundList {
  const list = networking?.[name];
  const networks = (list ?? []).flatMap((entry, index) =>
    typeof entry === 'string'
      ? found(entry, ['networking', name, index])
      : found(entry.cidr, ['networking', name, index, 'cidr']),
  );
  return { name, isGiven: isGiven(['networking', name]), isWhole: list !== undefined, networks };
}

function defaultList(name: NetworkList, families: readonly Family[]): FoundList {
  const networks = defaultNetworks(name, families).flatMap((cidr) =>
    found(cidr, ['networking', name]).map((each) => ({ ...each, byDefault: true })),
  );
  return { name, isGiven: false, isWhole: true, networks };
}

function found(cidr: string, path: Found['path']): Found[] {
  const network = parseNetwork(cidr);
  return network === undefined ? [] : [{ path, network, byDefault: false }];
}

function familiesIn({ networks }: FoundList): Family[] {
  return [...new Set(networks.map(({ network }) => network.family))];
}

function inOrderText(families: readonly Family[]): string {
  return families.length === 0 ? 'none' : families.join(' and then ');
}

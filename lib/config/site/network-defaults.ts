import { type Family, familyOf } from '../../base/network/address.ts';
import { networkText, parseNetwork } from '../../base/network/network.ts';

/** The lists of networks, in the order in which they determine the cluster's families. */
export const NETWORK_LISTS = ['machineNetwork', 'clusterNetwork', 'serviceNetwork'] as const;

export type NetworkList = (typeof NETWORK_LISTS)[number];

/**
 * The installer's defaults for IPv4, and the examples of its documentation for
 * IPv6, where it has none.
 */
const DEFAULTS: Readonly<Record<NetworkList, Readonly<Partial<Record<Family, string>>>>> = {
  // The host's IPv6 network cannot be guessed.
  machineNetwork: { IPv4: '10.0.0.0/16' },
  clusterNetwork: { IPv4: '10.128.0.0/14', IPv6: 'fd01::/48' },
  serviceNetwork: { IPv4: '172.30.0.0/16', IPv6: 'fd02::/112' },
};

export const HOST_PREFIX_DEFAULTS: Readonly<Record<Family, number>> = { IPv4: 23, IPv6: 64 };

/** The default of an omitted list in a cluster of these families. */
export function defaultNetworks(list: NetworkList, families: readonly Family[]): string[] {
  return families.flatMap((family) => DEFAULTS[list][family] ?? []);
}

/** The families of a cluster, the primary one first: those of the first list that is given. */
function clusterFamilies(given: Readonly<Record<NetworkList, string[] | undefined>>): Family[] {
  const decisive = NETWORK_LISTS.map((list) => given[list]).find(isGiven);
  return decisive === undefined ? ['IPv4'] : [...new Set(decisive.map(familyOf))];
}

/** `networking` of an install-config without faults. */
interface Networking {
  machineNetwork?: { cidr: string }[] | undefined;
  clusterNetwork?: { cidr: string; hostPrefix?: number | undefined }[] | undefined;
  serviceNetwork?: string[] | undefined;
}

/** An empty list counts as omitted, as in the installer. */
const isGiven = <Entry>(list: Entry[] | undefined): list is Entry[] => (list ?? []).length > 0;

/** All networks, in canonical form, with defaults filled in. */
export function networksOf(networking: Networking) {
  const { clusterNetwork } = networking;
  const given = {
    machineNetwork: networking.machineNetwork?.map(({ cidr }) => cidr),
    clusterNetwork: clusterNetwork?.map(({ cidr }) => cidr),
    serviceNetwork: networking.serviceNetwork,
  };
  const families = clusterFamilies(given);
  const all = (list: NetworkList) =>
    (isGiven(given[list]) ? given[list] : defaultNetworks(list, families)).map(canonical);
  return {
    machineNetwork: all('machineNetwork'),
    clusterNetwork: all('clusterNetwork').map((cidr, index) => ({
      cidr,
      hostPrefix: clusterNetwork?.[index]?.hostPrefix ?? HOST_PREFIX_DEFAULTS[familyOf(cidr)],
    })),
    serviceNetwork: all('serviceNetwork'),
  };
}

function canonical(cidr: string): string {
  const network = parseNetwork(cidr);
  return network === undefined ? cidr : networkText(network);
}

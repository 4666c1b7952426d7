import { Failure } from '../../base/errors/failure.ts';
import { bitsOf, familyOf } from '../../base/network/address.ts';
import { addressAt as addressIn, type Network, parseNetwork } from '../../base/network/network.ts';
import type { Cluster } from '../../config/cluster/cluster.ts';

/**
 * The n-th address of a network; 0 is the network's own.
 *
 * @param field the field that an error names, such as `networking.serviceNetwork`.
 * @throws Failure (usage) when the text is not a network in CIDR notation, or is too small.
 */
export function addressAt(cidr: string, index: number, field: string): string {
  const found = addressIn(networkOf(cidr, field), index);
  if (found !== undefined) return found;
  throw new Failure('usage', `${field} is too small`, {
    expected: `at least ${index + 1} addresses`,
    found: cidr,
  });
}

/**
 * The first subnet of the given size: the controller-manager allocates it to the first node
 * of a cluster, which is this one.
 *
 * @throws Failure (usage) as addressAt, and when the subnet would be larger than the network.
 */
export function firstSubnet(cidr: string, subnetPrefix: number, field: string): string {
  const { address, prefix, family } = networkOf(cidr, field);
  // It needs the network's own address, the gateway's and a pod's.
  const longest = bitsOf(family) - 2;
  if (subnetPrefix < prefix || subnetPrefix > longest) {
    throw new Failure('usage', `${field}: hostPrefix does not fit the network`, {
      expected: `a value from ${prefix} to ${longest}`,
      found: String(subnetPrefix),
    });
  }
  return `${address}/${subnetPrefix}`;
}

/** The API's address in each service network: the first, as the API server allocates it. */
export function apiServiceIps({ serviceNetwork }: Pick<Cluster, 'serviceNetwork'>): string[] {
  return serviceNetwork.map((cidr) => addressAt(cidr, 1, 'networking.serviceNetwork'));
}

/** The address of the cluster's DNS, in the primary service network. */
export function clusterDnsIp({ serviceNetwork }: Pick<Cluster, 'serviceNetwork'>): string {
  return addressAt(serviceNetwork[0] ?? '', 10, 'networking.serviceNetwork');
}

/** The flags for the size of a node's pod subnet, for each family of the cluster. */
export function nodeMaskSizes({ clusterNetwork }: Pick<Cluster, 'clusterNetwork'>) {
  const flag = { IPv4: 'node-cidr-mask-size-ipv4', IPv6: 'node-cidr-mask-size-ipv6' } as const;
  return Object.fromEntries(
    clusterNetwork.map(({ cidr, hostPrefix }) => [flag[familyOf(cidr)], hostPrefix]),
  );
}

function networkOf(cidr: string, field: string): Network {
  const network = parseNetwork(cidr);
  if (network !== undefined) return network;
  throw new Failure('usage', `${field} is not a network`, {
    expected: 'an address and a prefix length, such as 172.30.0.0/16',
    found: cidr,
  });
}

import type { Cluster } from '../../cluster/cluster.ts';
import { Failure } from '../../errors/failure.ts';
import { bitsOf, familyOf } from '../../network/address.ts';
import { addressAt as addressIn, type Network, parseNetwork } from '../../network/network.ts';

/**
 * The n-th address of a network, 0 being the network's own.
 *
 * @param field what the error names, such as `networking.serviceNetwork`.
 * @throws Failure (usage) when the text is no network in CIDR notation, or a too small one.
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
 * The first subnet of the given size: what the controller-manager's allocator gives
 * to the first node of a cluster, and so to this one.
 *
 * @throws Failure (usage) as addressAt, and when the subnet would be larger than the network.
 */
export function firstSubnet(cidr: string, subnetPrefix: number, field: string): string {
  const { address, prefix, family } = networkOf(cidr, field);
  // The network's own address, the gateway's and a pod's.
  const longest = bitsOf(family) - 2;
  if (subnetPrefix < prefix || subnetPrefix > longest) {
    throw new Failure('usage', `${field}: hostPrefix does not fit the network`, {
      expected: `a value from ${prefix} to ${longest}`,
      found: String(subnetPrefix),
    });
  }
  return `${address}/${subnetPrefix}`;
}

/** The address under which each service network reaches the API: its first, as the API server takes it. */
export function apiServiceIps({ serviceNetwork }: Pick<Cluster, 'serviceNetwork'>): string[] {
  return serviceNetwork.map((cidr) => addressAt(cidr, 1, 'networking.serviceNetwork'));
}

/** How large a node's share of the pod network is, in the families that the cluster has. */
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

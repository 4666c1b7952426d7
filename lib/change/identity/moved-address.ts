import { type Family, familyOf } from '../../base/network/address.ts';
import { overlap, parseNetwork } from '../../base/network/network.ts';
import { nodeIpsSchema } from '../../base/network/node-ips.ts';
import { addressByFamily, addressesIn, type HostAddress } from '../../host/network.ts';
import { type Identity, machineNetworkFor } from './identity.ts';

/** The addresses of the Node, as its host has them or others in their place. */
export type AddressVerdict =
  /** With the interface of each. */
  | { readonly kind: 'kept'; readonly interfaces: Readonly<Record<string, string>> }
  /** There is exactly one address in the place of each that is gone. */
  | { readonly kind: 'moved'; readonly to: Identity }
  /** None, several, or one that cannot be the Node's; `found` says which. */
  | { readonly kind: 'unclear'; readonly found: string };

/** What is known of the host besides its addresses. */
export interface KnownAddresses {
  readonly identity: Identity;
  /** CIDRs that only the cluster's own containers reach: of pods and of Services. */
  readonly inside: readonly string[];
  /** On which interface an address of the Node was when the host had it. */
  readonly interfaces: Readonly<Record<string, string>>;
}

const EVERY: Readonly<Record<Family, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };

/**
 * Compares the addresses of a Node with those of its host (`hostAddresses`: no link-local ones). The successor
 * of a lost address has its family and is on the interface that had it; where that is not known, or is
 * gone, in a machine network.
 */
export function judgeAddresses(
  known: KnownAddresses,
  present: readonly HostAddress[],
): AddressVerdict {
  const { identity } = known;
  const successors = identity.nodeIps.map((nodeIp) => successorOf(nodeIp, known, present));
  const problems = successors.filter((each) => typeof each === 'string');
  if (problems.length > 0) return { kind: 'unclear', found: problems.join('; ') };
  const found = successors.filter((each) => typeof each !== 'string');
  const nodeIps = nodeIpsSchema.parse(found.map(({ address }) => address));
  if (nodeIps.join() === identity.nodeIps.join()) {
    const interfaces = found.map(({ address, interfaceName }) => [address, interfaceName] as const);
    return { kind: 'kept', interfaces: Object.fromEntries(interfaces) };
  }
  const machineNetwork = machineNetworkFor(identity.machineNetwork, nodeIps, found);
  return { kind: 'moved', to: { ...identity, nodeIps, machineNetwork } };
}

/** The address itself if the host has it; as text, why there is none. */
function successorOf(
  nodeIp: string,
  { identity, inside, interfaces }: KnownAddresses,
  present: readonly HostAddress[],
): HostAddress | string {
  const kept = present.find(({ address }) => address === nodeIp);
  if (kept !== undefined) return kept;
  const family = familyOf(nodeIp);
  const onInterface = present.filter(({ interfaceName }) => interfaceName === interfaces[nodeIp]);
  const [place, nearby] =
    onInterface.length > 0
      ? [`on ${interfaces[nodeIp]}`, onInterface]
      : ['in the machine network', addressesIn(present, identity.machineNetwork)];
  const candidates = nearby.filter(({ address }) => familyOf(address) === family);
  const [best] = addressByFamily(candidates, [EVERY[family]]);
  const address = best?.address;
  if (address === undefined) return `no ${family} address ${place}`;
  // Next to a lease, a configured address is another one of the host, and not a new one.
  const isMixed =
    new Set(candidates.map(({ leaseSeconds }) => leaseSeconds === undefined)).size > 1;
  if (isMixed || best?.rivals.length !== 0) {
    return `${candidates.map(textOf).join(' and ')} ${place}`;
  }
  const taken = inside.find((cidr) => isWithin(address, cidr));
  if (taken === undefined) return address;
  return `${textOf(address)}, in the cluster's own network ${taken}`;
}

const textOf = ({ address, prefixLength }: HostAddress): string => `${address}/${prefixLength}`;

function isWithin(address: HostAddress, cidr: string): boolean {
  const [own, network] = [parseNetwork(textOf(address)), parseNetwork(cidr)];
  return own !== undefined && network !== undefined && overlap(own, network);
}

/** CIDRs of a cluster's pods and Services. */
export const insideNetworks = ({
  clusterNetwork,
  serviceNetwork,
}: {
  readonly clusterNetwork: readonly { readonly cidr: string }[];
  readonly serviceNetwork: readonly string[];
}): string[] => [...clusterNetwork.map(({ cidr }) => cidr), ...serviceNetwork];

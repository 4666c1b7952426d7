import { z } from 'zod';
import { contains, networkText, parseNetwork } from '../../base/network/network.ts';
import { type NodeIps, nodeIpsSchema } from '../../base/network/node-ips.ts';
import { clusterDomain } from '../../config/cluster/cluster.ts';
import type { KeylessInput } from '../../render/renderer.ts';

/** By what a host and its cluster are known: everything that certificates, Node and names depend on. */
export const identitySchema = z.object({
  /** The host's, and that of its Node. */
  hostname: z.string(),
  /** The addresses that the Node registers. */
  nodeIps: nodeIpsSchema,
  /** CIDR; the first entry's family is the primary one. */
  machineNetwork: z.array(z.string()).min(1),
  /** `metadata.name` of the install-config. */
  clusterName: z.string(),
  baseDomain: z.string(),
});

export type Identity = z.infer<typeof identitySchema>;

/** What of an input has the identity. */
export interface IdentifiedInput extends Pick<KeylessInput, 'cluster'> {
  readonly host: Pick<KeylessInput['host'], 'hostname' | 'nodeIps'>;
}

/** The identity for which a control plane was rendered. */
export const identityOf = ({ cluster, host }: IdentifiedInput): Identity => ({
  hostname: host.hostname,
  nodeIps: host.nodeIps,
  machineNetwork: cluster.machineNetwork,
  clusterName: cluster.name,
  baseDomain: cluster.baseDomain,
});

/** The input from which the same control plane is rendered for another identity. */
export function inputFor(input: KeylessInput, identity: Identity): KeylessInput {
  const { hostname, nodeIps } = identity;
  return {
    ...input,
    cluster: clusterFor(input.cluster, identity),
    host: { ...input.host, hostname, nodeIps },
  };
}

/** The same cluster with another identity. */
export function clusterFor(
  before: KeylessInput['cluster'],
  { hostname, machineNetwork, clusterName, baseDomain }: Identity,
): KeylessInput['cluster'] {
  const cluster = { ...before, name: clusterName, baseDomain, machineNetwork };
  const { proxy, hostname: configured } = before;
  const noProxy = proxy === undefined ? [] : noProxyFor(proxy.noProxy, before, cluster);
  return {
    ...cluster,
    ...(configured === undefined ? {} : { hostname }),
    ...(proxy && { proxy: { ...proxy, noProxy } }),
  };
}

type Named = Pick<KeylessInput['cluster'], 'name' | 'baseDomain' | 'machineNetwork'>;

/** What the cluster's own names and networks have added to it (lib/config/site/proxy.ts), or its site, is exchanged. */
function noProxyFor(noProxy: readonly string[], old: Named, next: Named): string[] {
  if (noProxy.includes('*')) return [...noProxy];
  const own = (named: Named) => [`api-int.${clusterDomain(named)}`, ...named.machineNetwork];
  const all = (named: Named) => `.${clusterDomain(named)}`;
  const gone = [...own(old), all(old)];
  const others = noProxy.filter((entry) => !gone.includes(entry));
  const names = noProxy.includes(all(old)) ? [all(next)] : [];
  return [...new Set([...others, ...own(next), ...names])].toSorted();
}

/** An address of a host with the length of its network's prefix. */
export interface AddressInNetwork {
  readonly address: string;
  readonly prefixLength: number;
}

/**
 * The machine networks of a host with these addresses: each as before if it contains the address of its
 * family, else the network of the address.
 */
export function machineNetworkFor(
  before: readonly string[],
  nodeIps: NodeIps,
  addresses: readonly AddressInNetwork[],
): string[] {
  return nodeIps.map((nodeIp) => {
    const kept = before.find((cidr) => {
      const network = parseNetwork(cidr);
      return network !== undefined && contains(network, nodeIp);
    });
    if (kept !== undefined) return kept;
    const { prefixLength } = addresses.find(({ address }) => address === nodeIp) ?? {};
    const own = prefixLength === undefined ? undefined : parseNetwork(`${nodeIp}/${prefixLength}`);
    return own === undefined ? nodeIp : networkText(own);
  });
}

/** What differs, as `name edge-0 -> edge-1`; empty for equal identities. */
export function differences(from: Identity, to: Identity): string[] {
  const domain = ({ clusterName, baseDomain }: Identity) => `${clusterName}.${baseDomain}`;
  const rows: [what: string, from: string, to: string][] = [
    ['name', from.hostname, to.hostname],
    ['address', from.nodeIps.join(', '), to.nodeIps.join(', ')],
    ['machine network', from.machineNetwork.join(', '), to.machineNetwork.join(', ')],
    ['domain', domain(from), domain(to)],
  ];
  return rows.flatMap(([what, old, next]) => (old === next ? [] : [`${what} ${old} -> ${next}`]));
}

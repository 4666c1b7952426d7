import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { adapterNames, machineIdentifiers } from '../../lib/host/machine-identifiers.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { type FactoryPolicy, internalAddresses } from '../../lib/relocation/relocatable/policy.ts';
import type { KnownNode } from './known-node.ts';

/** What this host tells about itself, for judging the configuration of a site. */
export async function readHostFacts(
  paths: HostPaths,
  { cluster, host }: KnownNode,
  policy: FactoryPolicy,
): Promise<ShippedHostFacts> {
  return {
    apiVersion: 'sno-agents/v1',
    kind: 'HostFacts',
    controlPlane: cluster.controlPlane,
    clusterName: cluster.name,
    baseDomain: cluster.baseDomain,
    nodeName: host.hostname,
    internalAddresses: [...internalAddresses(policy)],
    clusterNetwork: cluster.clusterNetwork.map(({ cidr }) => cidr),
    serviceNetwork: [...cluster.serviceNetwork],
    adapters: await adapterNames(paths),
    identifiers: await machineIdentifiers(paths),
    recipient: policy.recipient,
  };
}

import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { readCluster } from '../../lib/config/cluster/read-cluster.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { FactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import { readRenderInput } from '../../lib/render/render-input.ts';
import type { HostFacts } from '../../lib/render/renderer.ts';

/** The cluster of a relocatable node, and the name and address by which it knows the node. */
export interface KnownNode {
  readonly cluster: Cluster;
  readonly host: Pick<HostFacts, 'hostname' | 'nodeIps'>;
}

/**
 * Read from the input that the control plane was rendered from; on OpenShift, whose operators render it, from what the
 * factory has fixed. Undefined on a host of an earlier release.
 */
export async function knownNode(
  paths: HostPaths,
  { nodeName, internalAddress }: Pick<FactoryPolicy, 'nodeName' | 'internalAddress'>,
): Promise<KnownNode | undefined> {
  const input = await readRenderInput(paths);
  if (input !== undefined) return input;
  const cluster = await readCluster(paths);
  if (cluster.controlPlane === 'kubernetes') return undefined;
  return { cluster, host: { hostname: nodeName, nodeIps: [internalAddress] } };
}

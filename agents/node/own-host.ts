import { networkInterfaces } from 'node:os';
import { clusterDomain } from '../../lib/cluster/cluster.ts';
import { addressesOf } from '../../lib/csr/views.ts';
import { readKubeletEnvironment } from '../../lib/host/kubelet-environment.ts';
import { canonicalAddress } from '../../lib/network/address.ts';
import type { OwnHost } from '../../lib/workers/own-host.ts';
import type { PlainHost } from '../steps/host-context.ts';

/** What this host is known by now: what its Node registers, also while an adapter has no link, and what it has besides. */
export async function ownHost({
  paths,
  cluster,
  hostname,
}: Pick<PlainHost, 'paths' | 'cluster' | 'hostname'>): Promise<OwnHost> {
  const registered = (await readKubeletEnvironment(paths))?.nodeIps ?? [];
  const present = addressesOf(Object.values(networkInterfaces()));
  return {
    ownName: hostname(),
    clusterDomain: clusterDomain(cluster),
    ownAddresses: [...new Set([...registered.map(canonicalAddress), ...present])],
  };
}

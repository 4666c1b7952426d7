import { networkInterfaces } from 'node:os';
import { canonicalAddress, isAddress } from '../../lib/base/network/address.ts';
import { addressesOf } from '../../lib/cluster/csr/views.ts';
import type { OwnHost } from '../../lib/cluster/workers/own-host.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { readKubeletEnvironment } from '../../lib/host/kubelet-environment.ts';
import type { PlainHost } from './host-context.ts';

/** What this host is known by now: what its Node registers, also while an adapter has no link, and what it has besides. */
export async function ownHost({
  paths,
  cluster,
  hostname,
}: Pick<PlainHost, 'paths' | 'cluster' | 'hostname'>): Promise<OwnHost> {
  const registered = (await readKubeletEnvironment(paths))?.nodeIps ?? [];
  const present = addressesOf(Object.values(networkInterfaces()));
  const further = cluster.apiNames ?? [];
  const known = [...registered, ...further.filter(isAddress)].map(canonicalAddress);
  return {
    ownName: hostname(),
    clusterDomain: clusterDomain(cluster),
    ownAddresses: [...new Set([...known, ...present])],
    apiNames: further.filter((name) => !isAddress(name)),
  };
}

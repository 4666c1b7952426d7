import { hostname } from 'node:os';
import type { Cluster } from '../cluster/cluster.ts';
import { addressByFamily, hostAddresses } from '../host/network.ts';
import type { HostPaths } from '../host/paths.ts';
import { type HostView, readHostView } from './views.ts';

/** The view of the host that this runs on: its name, and its addresses in the machine networks. */
export async function viewOfThisHost(
  { machineNetwork }: Pick<Cluster, 'machineNetwork'>,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<HostView> {
  const found = addressByFamily(await hostAddresses(signal), machineNetwork);
  return readHostView({
    nodeName: hostname(),
    nodeIps: found.flatMap(({ address }) => (address === undefined ? [] : [address.address])),
    hostNameFile: paths.at('/etc/hostname'),
  });
}

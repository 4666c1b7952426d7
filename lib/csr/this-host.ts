import { hostname } from 'node:os';
import { addressesIn, hostAddresses } from '../host/network.ts';
import type { HostPaths } from '../host/paths.ts';
import type { Cluster } from '../render/cluster.ts';
import { type HostView, readHostView } from './views.ts';

/** The view of the host that this runs on: its name, and its address in the machine network. */
export async function viewOfThisHost(
  { machineNetwork }: Pick<Cluster, 'machineNetwork'>,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<HostView> {
  const [address] = addressesIn(await hostAddresses(signal), machineNetwork);
  return readHostView({
    nodeName: hostname(),
    nodeIp: address?.address ?? '',
    hostNameFile: paths.at('/etc/hostname'),
  });
}

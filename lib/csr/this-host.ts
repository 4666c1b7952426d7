import type { Cluster } from '../cluster/cluster.ts';
import { addressByFamily, hostAddresses } from '../host/network.ts';
import type { HostPaths } from '../host/paths.ts';
import { type HostView, readHostView } from './views.ts';

/** The part of a step's context that identifies this host. */
export interface ThisHost {
  readonly cluster: Pick<Cluster, 'machineNetwork'>;
  readonly paths: HostPaths;
  /** The kernel's current host name. */
  hostname(): string;
}

/** The view of this host: its name, and its addresses in the machine networks. */
export async function viewOfThisHost(host: ThisHost, signal: AbortSignal): Promise<HostView> {
  const found = addressByFamily(await hostAddresses(signal), host.cluster.machineNetwork);
  return readHostView({
    hostname: host.hostname(),
    nodeIps: found.flatMap(({ address }) => (address === undefined ? [] : [address.address])),
    hostNameFile: host.paths.at('/etc/hostname'),
  });
}

import type { Cluster } from '../cluster/cluster.ts';
import { addressByFamily, hostAddresses } from '../host/network.ts';
import type { HostPaths } from '../host/paths.ts';
import { type HostView, readHostView } from './views.ts';

/** The part of a step's context that says which host this is. */
export interface ThisHost {
  readonly cluster: Pick<Cluster, 'machineNetwork'>;
  readonly paths: HostPaths;
  /** The kernel's host name now. */
  hostname(): string;
}

/** The view of the host that this runs on: its name, and its addresses in the machine networks. */
export async function viewOfThisHost(host: ThisHost, signal: AbortSignal): Promise<HostView> {
  const found = addressByFamily(await hostAddresses(signal), host.cluster.machineNetwork);
  return readHostView({
    hostname: host.hostname(),
    nodeIps: found.flatMap(({ address }) => (address === undefined ? [] : [address.address])),
    hostNameFile: host.paths.at('/etc/hostname'),
  });
}

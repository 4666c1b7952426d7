import { join } from 'node:path';
import type { Cluster } from '../cluster/cluster.ts';
import { readTextIfPresent } from '../host/files.ts';
import { addressByFamily, hostAddresses } from '../host/network.ts';
import type { HostPaths } from '../host/paths.ts';
import { canonicalAddress } from '../network/address.ts';
import { kubeletPaths } from '../render/kubernetes/kubelet.ts';
import { type HostView, readHostView } from './views.ts';

/** The part of a step's context that identifies this host. */
export interface ThisHost {
  readonly cluster: Pick<Cluster, 'machineNetwork'>;
  readonly paths: HostPaths;
  /** The kernel's current host name. */
  hostname(): string;
}

/** The view of this host: its name, its node's addresses, and its kubelet's client certificate. */
export async function viewOfThisHost(host: ThisHost, signal: AbortSignal): Promise<HostView> {
  const { paths } = host;
  return readHostView({
    hostname: host.hostname(),
    registeredIps: await registeredIps(host, signal),
    hostNameFile: paths.at('/etc/hostname'),
    clientCertificateFile: paths.at(kubeletPaths.clientPair),
  });
}

/**
 * The addresses that the kubelet is started with (`--node-ip`); on a host where nothing has fixed
 * them, those by which it is known in the machine networks.
 */
async function registeredIps(
  { paths, cluster }: ThisHost,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const environment = await readTextIfPresent(join(paths.config, 'kubelet.env'));
  const fixed = /^KUBELET_NODE_IPS=(.+)$/m.exec(environment ?? '')?.[1];
  if (fixed !== undefined) return fixed.split(',').map((each) => canonicalAddress(each.trim()));
  const found = addressByFamily(await hostAddresses(signal), cluster.machineNetwork);
  return found.flatMap(({ address }) => (address === undefined ? [] : [address.address]));
}

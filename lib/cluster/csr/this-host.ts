import { canonicalAddress } from '../../base/network/address.ts';
import type { Cluster } from '../../config/cluster/cluster.ts';
import { BRIDGE } from '../../host/internal-bridge.ts';
import { readKubeletEnvironment } from '../../host/kubelet-environment.ts';
import { addressByFamily, hostAddresses } from '../../host/network.ts';
import type { HostPaths } from '../../host/paths.ts';
import { kubeletPaths } from '../../render/kubernetes/kubelet.ts';
import { readHostView } from './host-view.ts';
import type { HostView } from './views.ts';

/** The part of a step's context that identifies this host. */
export interface ThisHost {
  readonly cluster: Pick<Cluster, 'machineNetwork'>;
  readonly paths: HostPaths;
  /** The name of its Node: the kernel's current host name, unless it is pinned. */
  hostname(): string;
}

/** The view of this host: its name, its node's addresses, and its kubelet's client certificate. */
export async function viewOfThisHost(host: ThisHost, signal: AbortSignal): Promise<HostView> {
  const { paths } = host;
  const pinned = (await readKubeletEnvironment(paths))?.nodeName;
  return readHostView({
    hostname: host.hostname(),
    ...(pinned === undefined
      ? {}
      : { pinnedName: pinned, withoutCarrier: await addressesOnBridge(signal) }),
    registeredIps: await registeredIps(host, signal),
    hostNameFile: paths.at('/etc/hostname'),
    clientCertificateFile: paths.at(kubeletPaths.clientPair),
  });
}

/** Of a relocatable node: the bridge of its internal address has no ports, hence no carrier. */
const addressesOnBridge = async (signal: AbortSignal): Promise<string[]> =>
  (await hostAddresses(signal))
    .filter(({ interfaceName }) => interfaceName === BRIDGE)
    .map(({ address }) => address);

/**
 * The addresses that the kubelet is started with (`--node-ip`); on a host where nothing has fixed
 * them, those by which it is known in the machine networks.
 */
async function registeredIps(
  { paths, cluster }: ThisHost,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const fixed = await readKubeletEnvironment(paths);
  if (fixed !== undefined) return fixed.nodeIps.map(canonicalAddress);
  const found = addressByFamily(await hostAddresses(signal), cluster.machineNetwork);
  return found.flatMap(({ address }) => (address === undefined ? [] : [address.address]));
}

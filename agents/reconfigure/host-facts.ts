import type { ShippedHostFacts } from '../../lib/config/site-config/host-facts.ts';
import { namesIn, readTextIfPresent } from '../../lib/host/files.ts';
import { BRIDGE } from '../../lib/host/internal-bridge.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { isPlaceholder } from '../../lib/host/placeholders.ts';
import type { FactoryPolicy } from '../../lib/relocation/relocatable/policy.ts';
import type { KnownNode } from './known-node.ts';

/** What the pod network and the node itself make: no adapter of the host. On OpenShift, OVN-Kubernetes makes it. */
const OWN = new RegExp(
  `^(lo|${BRIDGE}|sno0|cni\\d*|flannel.*|veth.*|docker\\d*|virbr.*|kube-.*|br-ex|br-int|ovs-system|ovn-.*|genev_sys_.*)$`,
);
const SERIALS = ['product_serial', 'board_serial', 'chassis_serial', 'product_uuid'];

/** What this host tells about itself, for judging the configuration of a site. */
export async function readHostFacts(
  paths: HostPaths,
  { cluster, host }: KnownNode,
  policy: FactoryPolicy,
): Promise<ShippedHostFacts> {
  const adapters = (await namesIn(paths.at('/sys/class/net'))).filter((name) => !OWN.test(name));
  const text = async (path: string) => (await readTextIfPresent(paths.at(path)))?.trim() ?? '';
  const addresses = adapters.map((name) => text(`/sys/class/net/${name}/address`));
  const serials = await Promise.all(SERIALS.map((name) => text(`/sys/class/dmi/id/${name}`)));
  const identifiers = [
    ...serials.filter((serial) => !isPlaceholder(serial)),
    ...(await Promise.all(addresses)),
  ];
  return {
    apiVersion: 'sno-agents/v1',
    kind: 'HostFacts',
    controlPlane: cluster.controlPlane,
    clusterName: cluster.name,
    baseDomain: cluster.baseDomain,
    nodeName: host.hostname,
    internalAddresses: [policy.internalAddress],
    clusterNetwork: cluster.clusterNetwork.map(({ cidr }) => cidr),
    serviceNetwork: [...cluster.serviceNetwork],
    adapters,
    identifiers: [...new Set(identifiers.map((each) => each.toLowerCase()))].filter(
      (each) => each !== '' && !/^0+(:0+)*$/.test(each),
    ),
    recipient: policy.recipient,
  };
}

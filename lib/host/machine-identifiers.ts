import { namesIn, readTextIfPresent } from './files.ts';
import { BRIDGE } from './internal-bridge.ts';
import type { HostPaths } from './paths.ts';
import { isPlaceholder } from './placeholders.ts';

/** What the pod network and the node itself make: no adapter of the host. On OpenShift, OVN-Kubernetes makes it. */
const OWN = new RegExp(
  `^(lo|${BRIDGE}|sno0|cni\\d*|flannel.*|veth.*|docker\\d*|virbr.*|kube-.*|br-ex|br-int|ovs-system|ovn-.*|genev_sys_.*)$`,
);
const SERIALS = ['product_serial', 'board_serial', 'chassis_serial', 'product_uuid'];

/** The names of the host's network adapters. */
export const adapterNames = async ({ at }: Pick<HostPaths, 'at'>): Promise<string[]> =>
  (await namesIn(at('/sys/class/net'))).filter((name) => !OWN.test(name));

/** By what this machine can be found in an inventory: its serial numbers and MAC addresses, in lower case. */
export async function machineIdentifiers({ at }: Pick<HostPaths, 'at'>): Promise<string[]> {
  const text = async (path: string) => (await readTextIfPresent(at(path)))?.trim() ?? '';
  const adapters = await adapterNames({ at });
  const addresses = adapters.map((name) => text(`/sys/class/net/${name}/address`));
  const serials = await Promise.all(SERIALS.map((name) => text(`/sys/class/dmi/id/${name}`)));
  const all = [
    ...serials.filter((serial) => !isPlaceholder(serial)),
    ...(await Promise.all(addresses)),
  ];
  return [...new Set(all.map((each) => each.toLowerCase()))].filter(
    (each) => each !== '' && !/^0+(:0+)*$/.test(each),
  );
}

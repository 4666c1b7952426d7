import { BRIDGE } from '../../host/internal-bridge.ts';
import {
  type MachineConfigEntries,
  type MachineConfigManifest,
  machineConfigManifest,
} from '../../render/machine-config/manifest.ts';
import type { SiteFile } from '../../render/machine-config/site-files.ts';
import { bridgeProfile, bridgeProfilePath, INTERNAL_PREFIX } from './bridge.ts';
import { nodeDns, nodeDnsPath } from './local-dns.ts';
import { assistedDnsFiles, assistedDnsUnit } from './openshift/assisted-dns.ts';

export interface RelocatableNode {
  /** Of the installation, IPv4: the internal address at every site. */
  readonly address: string;
  /** Of the Node, whatever the host is called. */
  readonly nodeName: string;
  /** `<cluster>.<base domain>` of the installation. */
  readonly clusterDomain: string;
  /** The node has the MachineConfig by which assisted-service gives it a name server of its own, which is replaced. */
  readonly replacesAssistedDns?: boolean;
}

export const RELOCATABLE_MACHINE_CONFIG = '99-master-sno-relocatable';

/** The bridge of OVN-Kubernetes, which takes the addresses of its node from it. */
const OVN_BRIDGE = 'br-ex';

/** Behind 20-nodenet.conf, which nodeip-configuration.service writes at each boot. */
const NODE_ADDRESS = '30-sno-node.conf';

/** The drop-in from which the kubelet has the address and the name of its Node. */
export const kubeletDropinPath = `/etc/systemd/system/kubelet.service.d/${NODE_ADDRESS}`;

/**
 * Makes a node of OpenShift relocatable before its installation: a constant address and name, its own name server, and a
 * kubelet that waits while the node is sealed.
 */
export const relocatableManifest = (node: RelocatableNode): MachineConfigManifest =>
  machineConfigManifest(RELOCATABLE_MACHINE_CONFIG, relocatableEntries(node));

/** What the machine-config daemon makes of it on the host; files and drop-ins belong to root. */
export function relocatableFiles(node: RelocatableNode): readonly SiteFile[] {
  const { files, units } = relocatableEntries(node);
  const dropins = units.flatMap(({ name, dropins = [] }) =>
    dropins.map((each) => ({
      path: dropinPath(name, each.name),
      mode: 0o644,
      contents: each.contents ?? '',
    })),
  );
  const own = units.flatMap(({ name, contents }) =>
    contents === undefined ? [] : [{ path: `/etc/systemd/system/${name}`, mode: 0o644, contents }],
  );
  return [...files, ...own, ...dropins];
}

/** What the drop-in of the kubelet (`kubeletDropinPath`) fixes; undefined for another text. */
export function fixedByKubeletDropin(
  text: string,
): Pick<RelocatableNode, 'address' | 'nodeName'> | undefined {
  const value = (name: string) => new RegExp(`"${name}=([^"]+)"`).exec(text)?.[1];
  const address = value('KUBELET_NODE_IPS');
  const nodeName = value('KUBELET_NODE_NAME');
  return address === undefined || nodeName === undefined ? undefined : { address, nodeName };
}

const dropinPath = (unit: string, name: string) => `/etc/systemd/system/${unit}.d/${name}`;

function relocatableEntries({
  address,
  nodeName,
  clusterDomain,
  replacesAssistedDns = false,
}: RelocatableNode): Required<Pick<MachineConfigEntries, 'files' | 'units'>> {
  return {
    files: [
      { path: bridgeProfilePath, mode: 0o600, contents: bridgeProfile(address) },
      {
        path: '/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address',
        mode: 0o755,
        contents: ovnAddress(address),
      },
      {
        path: '/etc/NetworkManager/conf.d/90-sno-local-dns.conf',
        mode: 0o644,
        contents: OWN_RESOLVER,
      },
      { path: '/etc/resolv.conf', mode: 0o644, contents: resolver(address) },
      { path: nodeDnsPath, mode: 0o644, contents: nodeDns(address, clusterDomain) },
      ...(replacesAssistedDns ? assistedDnsFiles : []),
    ],
    units: [
      {
        name: 'dnsmasq.service',
        enabled: true,
        ...(replacesAssistedDns ? { contents: assistedDnsUnit } : {}),
        dropins: [{ name: '50-sno-local-dns.conf', contents: DNSMASQ }],
      },
      {
        name: 'kubelet.service',
        dropins: [
          { name: NODE_ADDRESS, contents: kubeletAddress(address, nodeName) },
          { name: '50-sno-sealed.conf', contents: SEALED },
        ],
      },
      { name: 'crio.service', dropins: [{ name: NODE_ADDRESS, contents: crioAddress(address) }] },
      {
        name: 'nodeip-configuration.service',
        dropins: [{ name: '50-sno-no-hint.conf', contents: NO_HINT }],
      },
    ],
  };
}

const ovnAddress = (address: string): string => `#!/bin/sh
# The address by which this node knows itself, on the bridge of the pod network, too: it takes the node's addresses
# from there. That of ${BRIDGE} is there without any network. Written by sno-agents.
[ "$1" = ${OVN_BRIDGE} ] && [ "$2" = pre-up ] || exit 0
exec ip address replace ${address}/${INTERNAL_PREFIX} dev ${OVN_BRIDGE}
`;

const OWN_RESOLVER = `# The node asks itself, see /etc/resolv.conf. Written by sno-agents.
[main]
rc-manager=unmanaged
`;

/**
 * Not 127.0.0.1: pods copy this file when they are made, and would ask themselves. This address answers at every site with the
 * name servers of that site, so that no pod has to be made again.
 */
const resolver = (address: string): string =>
  `# This node, which asks the name servers of its network. Written by sno-agents.\nnameserver ${address}\n`;

const DNSMASQ = `[Unit]
# Names are resolved from the first image on.
Before=kubelet-dependencies.target crio.service
After=NetworkManager.service
StartLimitIntervalSec=0

[Service]
# Without it the node resolves no name.
Restart=on-failure
RestartSec=2
`;

const kubeletAddress = (address: string, nodeName: string): string => `[Service]
Environment="KUBELET_NODE_IP=${address}" "KUBELET_NODE_IPS=${address}"
Environment="KUBELET_NODE_NAME=${nodeName}"
`;

const crioAddress = (address: string): string => `[Service]
Environment="CONTAINER_STREAM_ADDRESS=${address}"
`;

/**
 * The hint chooses the address from which configure-ovs.sh finds the interface of the pod network's bridge
 * (openshift/baremetal-runtimecfg, cmd/runtimecfg/node-ip.go; machine-config operator, configure-ovs-network.yaml). The unit reads
 * either variable, in every release from 4.14 to 5.0.
 */
const NO_HINT = `[Service]
# That of the installation (/etc/default/nodeip-configuration) is the internal address. At a site only ${BRIDGE} has it, and
# ${OVN_BRIDGE} would be made of a bridge without a port. Without a hint, it is made of the interface with the default route.
UnsetEnvironment=NODEIP_HINT KUBELET_NODEIP_HINT
`;

const SEALED = `[Unit]
# A sealed node waits for the configuration of its site.
ConditionPathExists=!/etc/sno-agents/sealed
`;

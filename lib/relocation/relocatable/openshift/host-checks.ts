/**
 * What relocation takes for granted of OpenShift and of a host of CoreOS, and what only such a host can confirm. Each is a check of
 * `reconfigure prepare`: the first one that fails names what was assumed. docs/first-openshift.md explains them.
 */
export const HOST_CHECKS = {
  release: 'the release is one that relocation knows',
  'operating-system': 'the host is CoreOS: RHCOS, or SCOS of OKD',
  programs: 'the host has the programs that the agents call at a site',
  'starts-as-unit': 'systemd may run the executable, under the SELinux policy of CoreOS',
  cluster: 'the cluster is a single node that can be relocated at all',
  'other-machine-configs': 'no MachineConfig of others does what ours does',
  'served-kinds': 'the API serves every kind of object that a site changes',
  'machine-config-pool': 'the pool master has the MachineConfig, is Updated and not Degraded',
  'machine-config-daemon':
    'the daemon has applied what is wanted, and keeps its present configuration where the way back looks for it',
  'machine-config-files': 'the files of the MachineConfig are as the daemon wrote them',
  'kubelet-environment': 'the drop-in of the MachineConfig wins over that of nodeip-configuration',
  'network-units': 'nodeip-configuration and ovs-configuration exist, and have ended well',
  'movable-folders':
    'what goes back as a whole can be moved aside: no file system of its own begins there',
  'static-pods': 'the four static pods are where the way back looks for them',
  'name-server': "the node's own name server runs",
  resolver: 'NetworkManager keeps the name servers of the network where that one reads them',
  'other-nodes': 'the node is alone',
  'node-address': 'the Node has the name and the address of the MachineConfig',
  'internal-bridge': 'br-node has the address',
  'ovn-bridge': 'br-ex has it, too: the script of the MachineConfig was run',
  'ovn-profiles': 'configure-ovs.sh names its profiles as those that a site deletes',
  nmstate: 'nmstate describes a network with Open vSwitch',
  'ovn-bridge-by-hand': 'configure-ovs.sh makes br-ex of the adapter with the default route',
} as const;

export type HostCheck = keyof typeof HOST_CHECKS;

/** What is wrong, with what to do. */
export interface HostFault {
  readonly check: HostCheck;
  readonly text: string;
}

/** With the code of its check, by which people report it. */
export const hostFaultText = ({ check, text }: HostFault): string => `${check}: ${text}`;

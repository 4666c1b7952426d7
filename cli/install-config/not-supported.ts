/**
 * Fields of the OpenShift installer that are not supported here, with the
 * alternative if there is one.
 */
export const NOT_SUPPORTED: ReadonlyMap<string, string> = new Map([
  ['arbiter', ''],
  ['capabilities', ''],
  ['credentialsMode', ''],
  ['featureGates', ''],
  ['featureSet', ''],
  ['operatorPublishingStrategy', ''],
  ['osImageStream', ''],
  ['controlPlane.diskSetup', ''],
  ['controlPlane.fencing', ''],
  ['controlPlane.management', ''],
  ['controlPlane.osImageStream', ''],
  ['compute[].diskSetup', ''],
  ['compute[].management', ''],
  ['compute[].osImageStream', ''],
  ['networking.clusterNetwork[].hostSubnetLength', 'hostPrefix'],
  ['networking.clusterNetworkMTU', ''],
  ['networking.clusterNetworks', 'clusterNetwork'],
  ['networking.machineCIDR', 'machineNetwork'],
  ['networking.ovnKubernetesConfig', ''],
  ['networking.serviceCIDR', 'serviceNetwork'],
  ['networking.type', 'networkType'],
  ...'aws azure baremetal external gcp ibmcloud nutanix openstack ovirt powervs vsphere'
    .split(' ')
    .map((name): [string, string] => [`platform.${name}`, 'none']),
]);

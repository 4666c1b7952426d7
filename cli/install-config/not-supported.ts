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

/** What to do about a field of the installer; undefined if it is not one of these. */
export function refusedField(field: string): string | undefined {
  const instead = NOT_SUPPORTED.get(field);
  if (instead === undefined) return undefined;
  return instead === ''
    ? 'Remove it: the OpenShift installer has this field, but it is not supported yet.'
    : `Use ${instead} instead: this one is not supported.`;
}

import { PREFLIGHT_CHECKS } from '../../lib/cluster/cluster.ts';
import { diskPathProblem } from './disk.ts';
import { ANY_NETWORK, cidrProblem } from './networks.ts';
import { pullSecretProblem, sshKeyProblem } from './secrets.ts';
import { SITE_FIELDS } from './site-fields.ts';

/** What a field wants, in the words of an error message. */
export interface Wanted {
  expected: string;
  fix: string;
  /** Where the value itself must not be shown, or more can be said about it. */
  found?: string;
}

export type Field = Wanted | ((value: unknown) => Wanted);

const HOST_NAME = 'sno1 or sno1.example.com';

const mapping = (fix: string): Wanted => ({ expected: 'a mapping', fix });

function network(value: unknown): Wanted {
  return (typeof value === 'string' ? cidrProblem(value) : undefined) ?? ANY_NETWORK;
}

function poolFields(pool: string): Record<string, Field> {
  const leaveOut = (expected: string): Wanted => ({
    expected,
    fix: 'Leave the field out: anything else is not supported yet.',
  });
  return {
    [`${pool}.architecture`]: leaveOut('amd64'),
    [`${pool}.hyperthreading`]: leaveOut('Enabled'),
    [`${pool}.platform`]: leaveOut('{}'),
  };
}

/** Every field of install-config.yaml that is read here; `[]` stands for any position of a list. */
export const FIELDS: Readonly<Record<string, Field>> = {
  '': mapping('Start from an install-config.yaml of the OpenShift documentation.'),
  apiVersion: { expected: 'v1', fix: 'Write apiVersion: v1.' },
  baseDomain: {
    expected: 'a DNS domain in lower case',
    fix: 'Write the domain that the cluster is under, such as example.com.',
  },
  metadata: mapping('Write metadata with the name of the cluster in it.'),
  'metadata.name': {
    expected: 'a DNS label: a-z, 0-9 and -, at most 63 characters',
    fix: 'Write the name of the cluster, such as sno.',
  },
  compute: {
    expected: 'a list of one pool, worker, with replicas 0',
    fix: 'Write compute: [{name: worker, replicas: 0}]; left out, it would mean three workers.',
  },
  'compute[]': mapping('Write {name: worker, replicas: 0}.'),
  'compute[].name': { expected: 'worker', fix: 'Keep only the pool worker.' },
  'compute[].replicas': {
    expected: '0',
    fix: 'Set replicas to 0: workers join later; left out, it would mean three workers.',
  },
  ...poolFields('compute[]'),
  controlPlane: {
    expected: 'the pool master with replicas 1',
    fix: 'Write controlPlane: {name: master, replicas: 1}; left out, it would mean three nodes.',
  },
  'controlPlane.name': { expected: 'master', fix: 'Write name: master.' },
  'controlPlane.replicas': {
    expected: '1',
    fix: 'Set replicas to 1: this installs one node; left out, it would mean three.',
  },
  ...poolFields('controlPlane'),
  networking: mapping('Leave networking out for its defaults, or write a mapping.'),
  'networking.networkType': {
    expected: 'a name such as OVNKubernetes',
    fix: 'Leave the field out, or name one.',
  },
  'networking.machineNetwork': {
    expected: 'a list with cidr in each entry',
    fix: 'Write the network that the node is in, as [{cidr: 10.0.0.0/16}].',
  },
  'networking.machineNetwork[]': mapping('Write {cidr: 10.0.0.0/16}.'),
  'networking.machineNetwork[].cidr': network,
  'networking.clusterNetwork': {
    expected: 'a list with cidr and hostPrefix in each entry, one of each family at most',
    fix: 'Write it as [{cidr: 10.128.0.0/14, hostPrefix: 23}].',
  },
  'networking.clusterNetwork[]': mapping('Write {cidr: 10.128.0.0/14, hostPrefix: 23}.'),
  'networking.clusterNetwork[].cidr': network,
  'networking.clusterNetwork[].hostPrefix': {
    expected: 'a whole number from 1 to 30, or to 126 for IPv6',
    fix: "Write the prefix length of a node's share, such as 23, or 64 for IPv6.",
  },
  'networking.serviceNetwork': {
    expected: 'a list of one network, or of one of each family',
    fix: 'Write it as [172.30.0.0/16] or [fd02::/112].',
  },
  'networking.serviceNetwork[]': network,
  platform: { expected: '{none: {}}', fix: 'Write platform: {none: {}}.' },
  'platform.none': { expected: '{}', fix: 'Write platform: {none: {}}.' },
  bootstrapInPlace: mapping('Write bootstrapInPlace with installationDisk in it.'),
  'bootstrapInPlace.installationDisk': (value) =>
    (typeof value === 'string' ? diskPathProblem(value) : undefined) ?? {
      expected: 'the path of a disk below /dev',
      fix: 'Write it as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    },
  'bootstrapInPlace.hostname': {
    expected: 'an RFC 1123 host name in lower case, not localhost, at most 63 characters',
    fix: `Write the node's name, such as ${HOST_NAME}, or leave it out for the name that the live host has.`,
  },
  'bootstrapInPlace.existingSystem': {
    expected: 'refuse or overwrite',
    fix: 'Write overwrite only if another system on the disk may be destroyed.',
  },
  'bootstrapInPlace.preflightWarnings': {
    expected: 'a list of names of checks',
    fix: 'Write it as [dns-apps], or leave it out.',
  },
  'bootstrapInPlace.preflightWarnings[]': {
    expected: `one of ${PREFLIGHT_CHECKS.join(', ')}`,
    fix: 'Name a check whose failure is only to be a warning.',
  },
  ...SITE_FIELDS,
  pullSecret: (value) =>
    (typeof value === 'string' ? pullSecretProblem(value) : undefined) ?? {
      expected: 'JSON as a text',
      fix: 'Copy the pull secret in single quotes, or write \'{"auths":{}}\' where no registry needs one.',
    },
  sshKey: (value) =>
    (typeof value === 'string' ? sshKeyProblem(value) : undefined) ?? {
      expected: 'OpenSSH public keys as a text, one on each line',
      fix: 'Copy the whole line of the .pub file.',
    },
  fips: {
    expected: 'false',
    fix: "Leave the field out: the cryptography of the container runtime, of the payload's Go programs and of the agents is not FIPS-validated, so a host in FIPS mode would claim what does not hold.",
  },
  publish: {
    expected: 'External',
    fix: 'Leave the field out: it means nothing without a platform.',
  },
  cpuPartitioningMode: {
    expected: 'None',
    fix: 'Leave the field out: CPU partitioning is not supported yet.',
  },
};

/** Fields whose values are never shown. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'pullSecret',
  'sshKey',
  'proxy',
  'proxy.httpProxy',
  'proxy.httpsProxy',
  'additionalTrustBundle',
  'bootstrapInPlace.networkConfig',
]);

/** Fields that the OpenShift installer has and this does not, with what to write instead where there is something. */
export const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  arbiter: '',
  capabilities: '',
  credentialsMode: '',
  featureGates: '',
  featureSet: '',
  operatorPublishingStrategy: '',
  osImageStream: '',
  'controlPlane.diskSetup': '',
  'controlPlane.fencing': '',
  'controlPlane.management': '',
  'controlPlane.osImageStream': '',
  'compute[].diskSetup': '',
  'compute[].management': '',
  'compute[].osImageStream': '',
  'networking.clusterNetwork[].hostSubnetLength': 'hostPrefix',
  'networking.clusterNetworkMTU': '',
  'networking.clusterNetworks': 'clusterNetwork',
  'networking.machineCIDR': 'machineNetwork',
  'networking.ovnKubernetesConfig': '',
  'networking.serviceCIDR': 'serviceNetwork',
  'networking.type': 'networkType',
  ...Object.fromEntries(
    'aws azure baremetal external gcp ibmcloud nutanix openstack ovirt powervs vsphere'
      .split(' ')
      .map((name) => [`platform.${name}`, 'none']),
  ),
};

/** The names of the fields directly below one. */
export function fieldsBelow(parent: string): string[] {
  const prefix = parent === '' ? '' : `${parent}.`;
  return Object.keys(FIELDS)
    .filter(
      (name) => name !== '' && name.startsWith(prefix) && !/[.[]/.test(name.slice(prefix.length)),
    )
    .map((name) => name.slice(prefix.length));
}

import { type Case, type Edit, top } from './install-config-file.ts';

/** Adds fields to bootstrapInPlace, from line 26. */
const below = (text: string): Edit => [
  'existingSystem: overwrite',
  `existingSystem: overwrite\n  ${text.replaceAll('\n', '\n  ')}`,
];

const host: readonly Case[] = [
  ...[
    '/dev/sda1',
    '/dev/nvme0n1p2',
    '/dev/disk/by-id/wwn-0x1-part1',
    '/dev/disk/by-partlabel/root',
  ].map(
    (disk): Case => ({
      name: `disk ${disk}`,
      edits: [['/dev/disk/by-id/wwn-0x1', disk]],
      faults: [
        `23:21 bootstrapInPlace.installationDisk: expected a complete disk, not a partition or file system, found "${disk}". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.`,
      ],
    }),
  ),
  {
    name: 'disk in the variable that is a partition',
    edits: [['  installationDisk: /dev/disk/by-id/wwn-0x1\n', '']],
    variable: '/dev/vda3',
    faults: [
      'OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS: expected arguments of coreos-installer install with one disk below /dev, found "/dev/vda3". Use a complete disk, not a partition or file system, such as /dev/sda.',
    ],
  },
  {
    name: 'NTP source with a port',
    edits: [below('additionalNTPSources: ["ntp.example.com:123"]')],
    faults: [
      '26:26 bootstrapInPlace.additionalNTPSources[0]: expected a host name or an address, without a port, found "ntp.example.com:123". Write it as ntp1.example.com.',
    ],
  },
  {
    name: 'NTP sources as one text',
    edits: [below('additionalNTPSources: ntp.example.com')],
    faults: [
      '26:25 bootstrapInPlace.additionalNTPSources: expected a list of host names or addresses, found "ntp.example.com". Write it as [ntp1.example.com, 192.168.7.1].',
    ],
  },
  {
    name: 'NTP sources mistyped',
    edits: [below('additionalNtpSource: [ntp.example.com]')],
    faults: [
      '26:3 bootstrapInPlace.additionalNtpSource: expected a known field, found a list. Did you mean additionalNTPSources?',
    ],
  },
  ...['1-0', '"0, 1"', '-1', 'all', '1.5'].map((list) => ({
    name: `reserved CPUs ${list}`,
    edits: [below(`reservedCPUs: ${list}`)],
    faults: [
      `26:17 bootstrapInPlace.reservedCPUs: expected a list of CPU numbers and ranges, such as 0-1 or "0,4", found ${list.startsWith('"') || Number.isFinite(Number(list)) ? list : `"${list}"`}. Write the CPUs for the node itself, as in lscpu; the others remain for workloads.`,
    ],
  })),
  {
    name: 'keys that are sealed to something else',
    edits: [below('sealSecrets: tpm')],
    faults: [
      '26:16 bootstrapInPlace.sealSecrets: expected none, host or tpm2, found "tpm". Omit the field for none; write host or tpm2 to seal the keys of the host.',
    ],
  },
  {
    name: 'an address that shall be kept',
    edits: [below('onAddressChange: keep')],
    faults: [
      '26:20 bootstrapInPlace.onAddressChange: expected stop or follow, found "keep". Omit the field for stop; write follow to have an installed host take over another address by itself.',
    ],
  },
  {
    name: 'pods that may do something else',
    edits: [below('metadataFromPods: deny')],
    faults: [
      '26:21 bootstrapInPlace.metadataFromPods: expected block or allow, found "deny". Omit the field for block; write allow if a workload needs the metadata service of the cloud.',
    ],
  },
  {
    name: 'relocatable as a text',
    edits: [below('relocatable: later')],
    faults: [
      '26:16 bootstrapInPlace.relocatable: expected true or false, found "later". Write true for a node that is installed here and set up at another site.',
    ],
  },
  {
    name: 'a relocatable node with workers, which know it by its address',
    edits: [
      below('relocatable: true'),
      ['- name: worker\n  replicas: 0\n', '- name: worker\n  replicas: 2\n'],
    ],
    faults: [
      '26:16 bootstrapInPlace.relocatable: expected false for a cluster with workers, found true. Set replicas of compute to 0.',
    ],
  },
  {
    name: 'a relocatable node whose keys are sealed, which would refuse every site',
    edits: [below('relocatable: true\nsealSecrets: host')],
    faults: [
      '27:16 bootstrapInPlace.sealSecrets: expected none for a relocatable node, which refuses every site otherwise, found "host". Leave sealSecrets out, or relocatable.',
    ],
  },
  {
    name: 'kernel arguments as one text',
    edits: [below('kernelArguments: quiet')],
    faults: [
      '26:20 bootstrapInPlace.kernelArguments: expected a list of kernel arguments, found "quiet". Write it as ["console=ttyS0,115200n8"].',
    ],
  },
  {
    name: 'two kernel arguments in one',
    edits: [below('kernelArguments: [quiet splash]')],
    faults: [
      '26:21 bootstrapInPlace.kernelArguments[0]: expected one kernel argument without spaces or quotes, found "quiet splash". Write each argument as a separate entry, such as console=ttyS0,115200n8.',
    ],
  },
  {
    name: 'kernel argument with a line break',
    edits: [below('kernelArguments: ["quiet\\nsplash"]')],
    faults: [
      '26:21 bootstrapInPlace.kernelArguments[0]: expected one kernel argument without spaces or quotes, found "quiet\\nsplash". Write each argument as a separate entry, such as console=ttyS0,115200n8.',
    ],
  },
  ...[
    ['ignition.config.url=http://x/y', 'Ignition is configured by the agents'],
    ['coreos.inst.install_dev=sda', 'the installation is configured in install-config.yaml'],
    ['root=/dev/sda1', 'coreos-installer sets it for the disk'],
    ['fips=1', 'FIPS mode is not supported'],
  ].map(
    ([argument, reason]): Case => ({
      name: `kernel argument ${argument}`,
      edits: [below(`kernelArguments: [quiet, "${argument}"]`)],
      faults: [
        `26:28 bootstrapInPlace.kernelArguments[1]: expected an argument that is not set elsewhere, found "${argument}". Omit it: ${reason}.`,
      ],
    }),
  ),
  {
    name: 'kernel arguments in two places',
    edits: [below('kernelArguments: [quiet]')],
    variable: '--append-karg=splash',
    faults: [
      '26:20 bootstrapInPlace.kernelArguments: expected one place for these arguments, found this field, and --append-karg in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. Set them in one of the two.',
    ],
  },
  {
    name: 'partitions to keep in two places',
    edits: [below('savePartitions: {labels: [data]}')],
    variable: '--save-partindex 5',
    faults: [
      '26:19 bootstrapInPlace.savePartitions: expected one place for these arguments, found this field, and --save-partindex in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. Set them in one of the two.',
    ],
  },
  {
    name: 'partitions to keep as a list',
    edits: [below('savePartitions: [data]')],
    faults: [
      '26:19 bootstrapInPlace.savePartitions: expected a mapping with labels or indexes, found a list. Write it as {labels: ["data*"]} or {indexes: ["5-"]}.',
    ],
  },
  {
    name: 'labels of partitions with a comma',
    edits: [below('savePartitions: {labels: ["data,logs"]}')],
    faults: [
      '26:29 bootstrapInPlace.savePartitions.labels[0]: expected a label of at most 36 characters without commas; * and ? are wildcards, found "data,logs". Write each label as a separate entry.',
    ],
  },
  {
    name: 'numbers of partitions',
    edits: [below('savePartitions: {indexes: [0, "7-5", "-", 5]}')],
    faults: [
      '26:30 bootstrapInPlace.savePartitions.indexes[0]: expected a number from 1, or a range such as "5-7", "5-" or "-7", found 0. Write it as in the partition table.',
      '26:33 bootstrapInPlace.savePartitions.indexes[1]: expected a number from 1, or a range such as "5-7", "5-" or "-7", found "7-5". Write it as in the partition table.',
      '26:40 bootstrapInPlace.savePartitions.indexes[2]: expected a number from 1, or a range such as "5-7", "5-" or "-7", found "-". Write it as in the partition table.',
    ],
  },
];

const together: Case = {
  name: 'a site where nothing is right',
  edits: [
    top(
      'proxy: {httpProxy: "ftp://me:hunter2@proxy", noProxy: "*.a"}\nadditionalTrustBundle: none\nadditionalTrustBundlePolicy: No\nimageContentSources: {}\nimageDigestSources: [{source: "", mirrors: ["a b"]}]\nfips: true',
    ),
    below(
      'networkConfig: {interfaces: [{name: bond0, type: bond}], route: []}\nadditionalNTPSources: [a_b]\nkernelArguments: ["", root=x]\nsavePartitions: {label: [x], indexes: [1-2-3]}',
    ),
    ['/dev/disk/by-id/wwn-0x1', '/dev/mmcblk0p1'],
    ['hostname: sno1.example.com', 'hostnam: sno1.example.com'],
    ['metadata:\n  name: sno', 'metadata:\n  name: sno\n  name: two'],
  ],
  variable: '--append-karg=a --save-partlabel b',
  faults: [
    '5:3 YAML: expected each key once, found this key again. Remove one of the two.',
    '21:20 proxy.httpProxy: expected the http URL of a proxy, found a URL of ftp. Write it as http://proxy.example.com:3128; user:password@ goes before the host.',
    '21:55 proxy.noProxy: expected names, addresses and networks, separated by commas only; or just *, found "*.a" as entry 1. Write it as .example.com,192.168.7.0/24: a leading dot matches all names below.',
    '22:24 additionalTrustBundle: expected X.509 certificates in PEM, found none. Include the CA certificates, each from its BEGIN to its END line.',
    '23:30 additionalTrustBundlePolicy: expected Proxyonly or Always, found false (written No). Omit it: the host trusts the bundle with both.',
    '24:1 imageContentSources: expected either this field or imageDigestSources, found both. Move its entries to imageDigestSources, which means the same.',
    '24:22 imageContentSources: expected a list with source and mirrors in each entry, found an empty mapping. Write it as [{source: quay.io/a, mirrors: [registry.example.com:5000/a]}].',
    '25:31 imageDigestSources[0].source: expected a registry, with or without the path of a repository, found "". Write it as registry.example.com:5000/ocp4/release.',
    '25:45 imageDigestSources[0].mirrors[0]: expected a registry, with or without the path of a repository, found "a b". Write it as registry.example.com:5000/ocp4/release.',
    "26:7 fips: expected false, found true. Omit the field: the cryptography of the container runtime, of the payload's Go programs and of the agents is not FIPS-validated, so FIPS mode would not be effective.",
    '30:21 bootstrapInPlace.installationDisk: expected a complete disk, not a partition or file system, found "/dev/mmcblk0p1". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    '31:3 bootstrapInPlace.hostnam: expected a known field, found a string of 16 characters. Did you mean hostname?',
    '33:32 bootstrapInPlace.networkConfig.interfaces[0].link-aggregation: expected a mapping with mode and port, found nothing. Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.',
    '33:60 bootstrapInPlace.networkConfig.route: expected an nmstate section, found an unknown section. Did you mean routes?',
    '34:26 bootstrapInPlace.additionalNTPSources[0]: expected a host name or an address, without a port, found "a_b". Write it as ntp1.example.com.',
    '35:20 bootstrapInPlace.kernelArguments: expected one place for these arguments, found this field, and --append-karg in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. Set them in one of the two.',
    '35:21 bootstrapInPlace.kernelArguments[0]: expected one kernel argument without spaces or quotes, found "". Write each argument as a separate entry, such as console=ttyS0,115200n8.',
    '35:25 bootstrapInPlace.kernelArguments[1]: expected an argument that is not set elsewhere, found "root=x". Omit it: coreos-installer sets it for the disk.',
    '36:19 bootstrapInPlace.savePartitions: expected one place for these arguments, found this field, and --save-partlabel in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. Set them in one of the two.',
    '36:20 bootstrapInPlace.savePartitions.label: expected a known field, found a list. Did you mean labels?',
    '36:42 bootstrapInPlace.savePartitions.indexes[0]: expected a number from 1, or a range such as "5-7", "5-" or "-7", found "1-2-3". Write it as in the partition table.',
  ],
  hides: /hunter2/,
};

/** Boot, disk and clock of the host. */
export const site: readonly Case[] = [...host, together];

import { DISK_VARIABLE } from '../../../cli/install-config/disk.ts';
import type { Case, Edit } from './install-config-file.ts';

const NO_DISK: Edit = ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''];

/** Platform, disk, host name, secrets and fields that are not known. */
export const installation: readonly Case[] = [
  { name: 'platform left out', edits: [['platform:\n  none: {}\n', '']], faults: ['1 platform'] },
  {
    name: 'another platform',
    edits: [['  none: {}', '  aws:\n    region: x']],
    faults: ['20 platform.none', '21 platform.aws'],
    says: /Use none instead/,
  },
  { name: 'platform without braces', edits: [['none: {}', 'none:']], faults: ['21 platform.none'] },
  {
    name: 'a field in platform none',
    edits: [['none: {}', 'none: {a: 1}']],
    faults: ['21 platform.none.a'],
  },
  {
    name: 'no disk',
    edits: [NO_DISK],
    faults: ['22 bootstrapInPlace.installationDisk'],
    says: new RegExp(DISK_VARIABLE),
  },
  {
    name: 'disk without /dev',
    edits: [['/dev/disk/by-id/wwn-0x1', 'sda']],
    faults: ['23 bootstrapInPlace.installationDisk'],
  },
  {
    name: 'disk that leaves /dev',
    edits: [['/dev/disk/by-id/wwn-0x1', '/dev/../etc']],
    faults: ['23 bootstrapInPlace.installationDisk'],
  },
  {
    name: 'disk with arguments',
    edits: [['/dev/disk/by-id/wwn-0x1', '"/dev/sda --insecure"']],
    faults: ['23 bootstrapInPlace.installationDisk'],
  },
  {
    name: 'disk in two places',
    variable: '/dev/sdb',
    faults: ['23 bootstrapInPlace.installationDisk'],
    says: /wwn-0x1" here and "\/dev\/sdb" in OPENSHIFT_INSTALL_/,
  },
  {
    name: 'host name localhost',
    edits: [['hostname: sno1.example.com', 'hostname: localhost']],
    faults: ['24 bootstrapInPlace.hostname'],
  },
  {
    name: 'host name localhost.localdomain',
    edits: [['hostname: sno1.example.com', 'hostname: localhost.localdomain']],
    faults: ['24 bootstrapInPlace.hostname'],
  },
  {
    name: 'host name with an underscore',
    edits: [['hostname: sno1.example.com', 'hostname: sno_1']],
    faults: ['24 bootstrapInPlace.hostname'],
  },
  {
    name: 'host name of 64 characters',
    edits: [['hostname: sno1.example.com', `hostname: ${'a'.repeat(64)}`]],
    faults: ['24 bootstrapInPlace.hostname'],
  },
  {
    name: 'existingSystem',
    edits: [['existingSystem: overwrite', 'existingSystem: yes']],
    faults: ['25 bootstrapInPlace.existingSystem'],
  },
  {
    name: 'pull secret left out',
    edits: [['pullSecret: \'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'\n', '']],
    faults: ['1 pullSecret'],
  },
  {
    name: 'pull secret that is not JSON',
    edits: [['\'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'', 'hunter2']],
    faults: ['26 pullSecret'],
    says: /7 characters that is not JSON/,
    hides: /hunter2/,
  },
  {
    name: 'pull secret without quotes',
    edits: [['\'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'', '{"auths":{}}']],
    faults: ['26 pullSecret'],
    says: /single quotes/,
  },
  {
    name: 'pull secret without a user',
    edits: [['dXNlcjpwYXNz', 'aHVudGVyMg==']],
    faults: ['26 pullSecret'],
    says: /no usable auth for quay\.io/,
    hides: /hunter2|aHVudGVy/,
  },
  {
    name: 'pull secret with a list of auths',
    edits: [['{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":[]}']],
    faults: ['26 pullSecret'],
  },
  {
    name: 'private SSH key',
    edits: [['ssh-ed25519 AAAA', '-----BEGIN OPENSSH PRIVATE KEY----- AAAA']],
    faults: ['27 sshKey'],
    says: /found a private key/,
    hides: /AAAAC3/,
  },
  {
    name: 'SSH key cut short',
    edits: [['AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f', 'AAAAC3Nz']],
    faults: ['27 sshKey'],
  },
  {
    name: 'SSH key of another type than it says',
    edits: [['ssh-ed25519', 'ssh-rsa']],
    faults: ['27 sshKey'],
  },
  {
    name: 'second SSH key is none',
    edits: [[' me\n', ' me\n  hello\n']],
    faults: ['27 sshKey'],
    says: /key 2 of 2/,
  },
  {
    name: 'fips',
    edits: [['platform:', 'fips: true\nplatform:']],
    faults: ['20 fips'],
    says: /FIPS mode is not supported yet/,
  },
  ...[
    'proxy',
    'additionalTrustBundle',
    'imageContentSources',
    'imageDigestSources',
    'capabilities',
    'featureSet',
    'credentialsMode',
  ].map(
    (field): Case => ({
      name: field,
      edits: [['platform:', `${field}: {a: b}\nplatform:`]],
      faults: [`20 ${field}`],
      says: /has this field, but it is not supported yet/,
    }),
  ),
  {
    name: 'unknown field that nothing is like',
    edits: [['platform:', 'colour: red\nplatform:']],
    faults: ['20 colour'],
    says: /use one of apiVersion, baseDomain/,
  },
  {
    name: 'wrong case',
    edits: [['pullSecret', 'pullsecret']],
    faults: ['1 pullSecret', '26 pullsecret'],
    says: /Did you mean pullSecret\?/,
    hides: /dXNlcjpwYXNz/,
  },
  {
    name: 'all at once',
    edits: [
      ['apiVersion: v1', 'apiVersion: v2'],
      ['name: sno\n', 'name: SNO\n'],
      ['replicas: 0', 'replicas: 2'],
      ['172.30.0.0/16', '192.168.0.0/16'],
      ['/dev/disk/by-id/wwn-0x1', 'vda'],
    ],
    variable: "--append-karg 'x",
    faults: [
      '1 apiVersion',
      '4 metadata.name',
      '7 compute[0].replicas',
      '19 networking.serviceNetwork[0]',
      '23 bootstrapInPlace.installationDisk',
      DISK_VARIABLE,
    ],
  },
];

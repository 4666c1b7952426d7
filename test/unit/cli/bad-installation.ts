import type { Case } from './install-config-file.ts';

/** Platform, disk, host name, secrets and unknown fields. */
export const installation: readonly Case[] = [
  {
    name: 'platform left out',
    edits: [['platform:\n  none: {}\n', '']],
    faults: ['1:1 platform: expected {none: {}}, found nothing. Write platform: {none: {}}.'],
  },
  {
    name: 'another platform',
    edits: [['  none: {}', '  aws:\n    region: x']],
    faults: [
      '20:1 platform.none: expected {}, found nothing. Write platform: {none: {}}.',
      '21:3 platform.aws: expected no such field, found a mapping. Use none instead: this one is not supported.',
    ],
  },
  {
    name: 'platform without braces',
    edits: [['none: {}', 'none:']],
    faults: ['21:3 platform.none: expected {}, found nothing. Write platform: {none: {}}.'],
  },
  {
    name: 'a field in platform none',
    edits: [['none: {}', 'none: {a: 1}']],
    faults: ['21:10 platform.none.a: expected a known field, found 1. Remove it.'],
  },
  {
    name: 'no disk',
    edits: [['  installationDisk: /dev/disk/by-id/wwn-0x1\n', '']],
    faults: [
      '22:1 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found nothing. Set the disk to install to, here or in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. An all-in-one host has none: "sno create aio-ignition", "sno verify install-config --aio".',
    ],
  },
  {
    name: 'disk without /dev',
    edits: [['/dev/disk/by-id/wwn-0x1', 'sda']],
    faults: [
      '23:21 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found "sda". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    ],
  },
  {
    name: 'disk that leaves /dev',
    edits: [['/dev/disk/by-id/wwn-0x1', '/dev/../etc']],
    faults: [
      '23:21 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found "/dev/../etc". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    ],
  },
  {
    name: 'disk with arguments',
    edits: [['/dev/disk/by-id/wwn-0x1', '"/dev/sda --insecure"']],
    faults: [
      '23:21 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found "/dev/sda --insecure". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    ],
  },
  {
    name: 'disk /dev/null',
    edits: [['/dev/disk/by-id/wwn-0x1', '/dev/null']],
    faults: [
      '23:21 bootstrapInPlace.installationDisk: expected a disk that a system can be installed to, found "/dev/null". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
    ],
  },
  {
    name: 'disk in two places',
    variable: '/dev/sdb',
    faults: [
      '23:21 bootstrapInPlace.installationDisk: expected one disk, found "/dev/disk/by-id/wwn-0x1" here and "/dev/sdb" in OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS. Set it in one of the two places.',
    ],
  },
  {
    name: 'host name localhost',
    edits: [['hostname: sno1.example.com', 'hostname: localhost']],
    faults: [
      '24:13 bootstrapInPlace.hostname: expected an RFC 1123 host name in lower case, not localhost, at most 63 characters, found "localhost". Write the node\'s name, such as sno1 or sno1.example.com, or omit it to use the live host\'s.',
    ],
  },
  {
    name: 'host name localhost.localdomain',
    edits: [['hostname: sno1.example.com', 'hostname: localhost.localdomain']],
    faults: [
      '24:13 bootstrapInPlace.hostname: expected an RFC 1123 host name in lower case, not localhost, at most 63 characters, found "localhost.localdomain". Write the node\'s name, such as sno1 or sno1.example.com, or omit it to use the live host\'s.',
    ],
  },
  {
    name: 'host name with an underscore',
    edits: [['hostname: sno1.example.com', 'hostname: sno_1']],
    faults: [
      '24:13 bootstrapInPlace.hostname: expected an RFC 1123 host name in lower case, not localhost, at most 63 characters, found "sno_1". Write the node\'s name, such as sno1 or sno1.example.com, or omit it to use the live host\'s.',
    ],
  },
  {
    name: 'host name that is a number',
    edits: [['hostname: sno1.example.com', 'hostname: "7"']],
    faults: [
      '24:13 bootstrapInPlace.hostname: expected a host name that does not end in a number, found "7", which programs read as an address. Write a name with a letter in its last part, such as sno1 or sno1.example.com.',
    ],
  },
  {
    name: 'host name of 64 characters',
    edits: [
      [
        'hostname: sno1.example.com',
        'hostname: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      ],
    ],
    faults: [
      '24:13 bootstrapInPlace.hostname: expected an RFC 1123 host name in lower case, not localhost, at most 63 characters, found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...". Write the node\'s name, such as sno1 or sno1.example.com, or omit it to use the live host\'s.',
    ],
  },
  {
    name: 'existingSystem',
    edits: [['existingSystem: overwrite', 'existingSystem: yes']],
    faults: [
      '25:19 bootstrapInPlace.existingSystem: expected refuse or overwrite, found true (written yes). Write overwrite only if another system on the disk can be destroyed.',
    ],
  },
  {
    name: 'pull secret left out',
    edits: [['pullSecret: \'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'\n', '']],
    faults: [
      '1:1 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found nothing. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
  },
  {
    name: 'pull secret that is not JSON',
    edits: [['\'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'', 'hunter2']],
    faults: [
      '26:13 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found a string of 7 characters that is not JSON: no value of JSON at character 1. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'pull secret without quotes',
    edits: [['\'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}\'', '{"auths":{}}']],
    faults: [
      '26:13 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found a mapping. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
  },
  {
    name: 'pull secret without auth',
    edits: [['"auth":"dXNlcjpwYXNz"', '"password":"hunter2"']],
    faults: [
      '26:13 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found no usable auth for quay.io. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
    hides: /hunter2/,
  },
  {
    name: 'pull secret with a list of auths',
    edits: [['{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":[]}']],
    faults: [
      '26:13 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found JSON without a mapping auths. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
  },
  {
    name: 'pull secret with empty auths',
    edits: [['{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}', '{"auths":{}}']],
    faults: [
      '26:13 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found empty auths. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
    ],
  },
  {
    name: 'private SSH key',
    edits: [['ssh-ed25519 AAAA', '-----BEGIN OPENSSH PRIVATE KEY----- AAAA']],
    faults: [
      '27:9 sshKey: expected OpenSSH public keys, one on each line, found a private key. Use the public key from the .pub file, and keep the private key secret.',
    ],
    hides: /AAAAC3/,
  },
  {
    name: 'SSH key cut short',
    edits: [['AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f', 'AAAAC3Nz']],
    faults: [
      '27:9 sshKey: expected OpenSSH public keys, one on each line, found an invalid key, number 1 of 1. Copy the complete line of the .pub file, such as ssh-ed25519 AAAA... name.',
    ],
  },
  {
    name: 'SSH key of another type than it says',
    edits: [['ssh-ed25519', 'ssh-rsa']],
    faults: [
      '27:9 sshKey: expected OpenSSH public keys, one on each line, found an invalid key, number 1 of 1. Copy the complete line of the .pub file, such as ssh-ed25519 AAAA... name.',
    ],
  },
  {
    name: 'second SSH key is none',
    edits: [[' me\n', ' me\n  hello\n']],
    faults: [
      '27:9 sshKey: expected OpenSSH public keys, one on each line, found an invalid key, number 2 of 2. Copy the complete line of the .pub file, such as ssh-ed25519 AAAA... name.',
    ],
  },
  {
    name: 'fips',
    edits: [['platform:', 'fips: true\nplatform:']],
    faults: [
      "20:7 fips: expected false, found true. Omit the field: the cryptography of the container runtime, of the payload's Go programs and of the agents is not FIPS-validated, so FIPS mode would not be effective.",
    ],
  },
  {
    name: 'publish',
    edits: [['platform:', 'publish: Internal\nplatform:']],
    faults: [
      '20:10 publish: expected External, found "Internal". Omit the field: it has no effect without a platform.',
    ],
  },
  {
    name: 'capabilities',
    edits: [['platform:', 'capabilities: {a: b}\nplatform:']],
    faults: [
      '20:1 capabilities: expected no such field, found a mapping. Remove it: the OpenShift installer has this field, but it is not supported yet.',
    ],
  },
  {
    name: 'featureSet',
    edits: [['platform:', 'featureSet: {a: b}\nplatform:']],
    faults: [
      '20:1 featureSet: expected no such field, found a mapping. Remove it: the OpenShift installer has this field, but it is not supported yet.',
    ],
  },
  {
    name: 'credentialsMode',
    edits: [['platform:', 'credentialsMode: {a: b}\nplatform:']],
    faults: [
      '20:1 credentialsMode: expected no such field, found a mapping. Remove it: the OpenShift installer has this field, but it is not supported yet.',
    ],
  },
  {
    name: 'unknown field that nothing is like',
    edits: [['platform:', 'colour: red\nplatform:']],
    faults: [
      '20:1 colour: expected a known field, found a string of 3 characters. Remove it, or use one of apiVersion, kind, baseDomain, metadata, compute, controlPlane, networking, platform, bootstrapInPlace, proxy, additionalTrustBundle, additionalTrustBundlePolicy, imageContentSources, imageDigestSources, pullSecret, sshKey, fips, publish, cpuPartitioningMode.',
    ],
  },
  {
    name: 'wrong case',
    edits: [['pullSecret', 'pullsecret']],
    faults: [
      '1:1 pullSecret: expected JSON with auths that has an auth, base64 of user:password, or credsStore for each registry, found nothing. Copy the pull secret as one line in single quotes; if no registry needs one, copy the one in docs/reference/install-config.md.',
      '26:1 pullsecret: expected a known field, found a string of 45 characters. Did you mean pullSecret?',
    ],
    hides: /dXNlcjpwYXNz/,
  },
  {
    name: 'all at once',
    edits: [
      ['apiVersion: v1', 'apiVersion: v2'],
      ['name: sno\n', 'name: SNO\n'],
      ['replicas: 0', 'replicas: -2'],
      ['172.30.0.0/16', '192.168.0.0/16'],
      ['/dev/disk/by-id/wwn-0x1', 'vda'],
    ],
    variable: "--append-karg 'x",
    faults: [
      '1:13 apiVersion: expected v1, found "v2". Write apiVersion: v1.',
      '4:9 metadata.name: expected a DNS label: a-z, 0-9 and -, at most 54 characters, found "SNO". Write the name of the cluster, such as sno.',
      '7:13 compute[0].replicas: expected a whole number from 0 to 100, found -2. Write the number of workers that are installed with the cluster, such as 0; the default would be three.',
      '19:5 networking.serviceNetwork[0]: expected a network that does not overlap networking.machineNetwork[0].cidr (192.168.7.0/24), found 192.168.0.0/16. Change one of the two: their addresses overlap.',
      '23:21 bootstrapInPlace.installationDisk: expected the path of a disk below /dev, found "vda". Use a path that does not change, such as /dev/disk/by-id/wwn-0x5000c500a1b2c3d4.',
      'OPENSHIFT_INSTALL_EXPERIMENTAL_BOOTSTRAP_IN_PLACE_COREOS_INSTALLER_ARGS: expected arguments of coreos-installer install with one disk below /dev, found an error (The arguments have an unclosed quote). Write it as for coreos-installer install.',
    ],
  },
];

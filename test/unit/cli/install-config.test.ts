import t from 'tap';
import { DISK_VARIABLE } from '../../../cli/install-config/disk.ts';
import { faultText } from '../../../cli/install-config/fault.ts';
import { readSettings } from '../../../cli/install-config/settings.ts';

const GOOD = `apiVersion: v1
baseDomain: example.com
metadata:
  name: sno
compute:
- name: worker
  replicas: 0
controlPlane:
  name: master
  replicas: 1
networking:
  networkType: OVNKubernetes
  machineNetwork:
  - cidr: 192.168.7.0/24
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:
  - 172.30.0.0/16
platform:
  none: {}
bootstrapInPlace:
  installationDisk: /dev/disk/by-id/wwn-0x1
  hostname: sno1.example.com
  existingSystem: overwrite
pullSecret: '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'
sshKey: |
  ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me
`;

type Edit = readonly [from: string, to: string];

function edited(edits: readonly Edit[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the good file has no ${JSON.stringify(from)}`);
    return text.replace(from, () => to);
  }, GOOD);
}

interface Case {
  name: string;
  edits?: readonly Edit[];
  yaml?: string;
  variable?: string;
  /** `LINE field`, or the field alone where there is no line; in the order of the file. */
  faults: readonly string[];
  /** What the texts of the faults say, together. */
  says?: RegExp;
  /** What they must not. */
  hides?: RegExp;
}

const NO_COMPUTE: Edit = ['compute:\n- name: worker\n  replicas: 0\n', ''];
const NO_DISK: Edit = ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''];

const BAD: readonly Case[] = [
  {
    name: 'empty file',
    yaml: '',
    faults: [...Array(7).keys()]
      .map(
        (i) =>
          `1 ${['apiVersion', 'baseDomain', 'metadata', 'compute', 'controlPlane', 'platform', 'pullSecret'][i]}`,
      )
      .concat('1 bootstrapInPlace.installationDisk'),
  },
  { name: 'a list', yaml: '- a\n', faults: ['1 (file)', '1 bootstrapInPlace.installationDisk'] },
  { name: 'broken YAML', edits: [['  name: sno\n', '  name: "sno\n']], faults: ['4 YAML'] },
  { name: 'tabs', edits: [['  name: sno\n', '\tname: sno\n']], faults: ['4 YAML'] },
  { name: 'two documents', edits: [['platform:', '---\nplatform:']], faults: ['20 YAML'] },
  {
    name: 'duplicate key',
    edits: [['  name: sno\n', '  name: sno\n  name: two\n']],
    faults: ['5 YAML'],
    says: /each key once/,
  },
  {
    name: 'duplicate key and another fault',
    edits: [
      ['  name: sno\n', '  name: sno\n  name: two\n'],
      ['apiVersion: v1', 'apiVersion: v2'],
    ],
    faults: ['1 apiVersion', '5 YAML'],
  },
  { name: 'unknown tag', edits: [['name: sno', 'name: !secret sno']], faults: ['4 YAML'] },
  { name: 'alias of nothing', edits: [['name: sno', 'name: *sno']], faults: ['4 YAML'] },
  {
    name: 'apiVersion',
    edits: [['apiVersion: v1', 'apiVersion: v1beta4']],
    faults: ['1 apiVersion'],
    says: /expected v1, found "v1beta4"/,
  },
  {
    name: 'apiVersion left out',
    edits: [['apiVersion: v1\n', '']],
    faults: ['1 apiVersion'],
    says: /found nothing/,
  },
  {
    name: 'base domain in capitals',
    edits: [['example.com\n', 'Example.com\n']],
    faults: ['2 baseDomain'],
  },
  {
    name: 'base domain with a final stop',
    edits: [['example.com\n', 'example.com.\n']],
    faults: ['2 baseDomain'],
  },
  {
    name: 'base domain mistyped',
    edits: [['baseDomain', 'baseDomian']],
    faults: ['1 baseDomain', '2 baseDomian'],
    says: /Did you mean baseDomain\?/,
  },
  {
    name: 'no cluster name',
    edits: [['  name: sno\n', '  labels: {}\n']],
    faults: ['3 metadata.name', '4 metadata.labels'],
  },
  {
    name: 'cluster name with a dot',
    edits: [['name: sno', 'name: sno.a']],
    faults: ['4 metadata.name'],
  },
  {
    name: 'cluster name that YAML reads as a number',
    edits: [['name: sno', 'name: 123']],
    faults: ['4 metadata.name'],
    says: /found 123/,
  },
  {
    name: 'cluster name without a value',
    edits: [['name: sno', 'name:']],
    faults: ['4 metadata.name'],
    says: /found nothing/,
  },
  { name: 'compute left out', edits: [NO_COMPUTE], faults: ['1 compute'], says: /replicas: 0/ },
  {
    name: 'compute empty',
    edits: [['compute:\n- name: worker\n  replicas: 0\n', 'compute: []\n']],
    faults: ['5 compute'],
  },
  {
    name: 'compute replicas left out',
    edits: [['- name: worker\n  replicas: 0', '- name: worker']],
    faults: ['6 compute[0].replicas'],
    says: /Set replicas to 0/,
  },
  {
    name: 'compute replicas 3',
    edits: [['replicas: 0', 'replicas: 3']],
    faults: ['7 compute[0].replicas'],
    says: /expected 0, found 3/,
  },
  {
    name: 'compute pool of another name',
    edits: [['name: worker', 'name: edge']],
    faults: ['6 compute[0].name'],
  },
  {
    name: 'a second compute pool',
    edits: [['  replicas: 0\n', '  replicas: 0\n- name: edge\n  replicas: 0\n']],
    faults: ['6 compute', '8 compute[1].name'],
  },
  {
    name: 'control plane left out',
    edits: [['controlPlane:\n  name: master\n  replicas: 1\n', '']],
    faults: ['1 controlPlane'],
    says: /replicas: 1/,
  },
  {
    name: 'control-plane replicas left out',
    edits: [['  replicas: 1\n', '']],
    faults: ['8 controlPlane.replicas'],
    says: /Set replicas to 1/,
  },
  {
    name: 'control-plane replicas 3',
    edits: [['replicas: 1', 'replicas: 3']],
    faults: ['10 controlPlane.replicas'],
    says: /expected 1, found 3/,
  },
  {
    name: 'control-plane replicas in quotes',
    edits: [['replicas: 1', 'replicas: "1"']],
    faults: ['10 controlPlane.replicas'],
    says: /found the text "1"/,
  },
  {
    name: 'arm64',
    edits: [['replicas: 1', 'replicas: 1\n  architecture: arm64']],
    faults: ['11 controlPlane.architecture'],
    says: /not supported yet/,
  },
  {
    name: 'IPv6 machine network',
    edits: [['192.168.7.0/24', 'fd00::/64']],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /IPv6 is not supported yet/,
  },
  {
    name: 'CIDR without a length',
    edits: [['192.168.7.0/24', '192.168.7.0']],
    faults: ['14 networking.machineNetwork[0].cidr'],
  },
  {
    name: 'CIDR with a length of 33',
    edits: [['192.168.7.0/24', '192.168.7.0/33']],
    faults: ['14 networking.machineNetwork[0].cidr'],
  },
  {
    name: 'CIDR of a host',
    edits: [['192.168.7.0/24', '192.168.7.5/24']],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /Write it as 192\.168\.7\.0\/24/,
  },
  {
    name: 'loopback',
    edits: [['172.30.0.0/16', '127.0.0.0/16']],
    faults: ['19 networking.serviceNetwork[0]'],
    says: /loopback/,
  },
  {
    name: 'everything',
    edits: [['172.30.0.0/16', '0.0.0.0/0']],
    faults: ['19 networking.serviceNetwork[0]'],
  },
  {
    name: 'networks that overlap',
    edits: [['172.30.0.0/16', '10.129.0.0/16']],
    faults: ['19 networking.serviceNetwork[0]'],
    says: /apart from networking\.clusterNetwork\[0\]\.cidr \(10\.128\.0\.0\/14\), found 10\.129/,
  },
  {
    name: 'a network that overlaps a default',
    edits: [
      ['192.168.7.0/24', '172.30.5.0/24'],
      ['  serviceNetwork:\n  - 172.30.0.0/16\n', ''],
    ],
    faults: ['14 networking.machineNetwork[0].cidr'],
    says: /172\.30\.0\.0\/16, the default/,
  },
  {
    name: 'two service networks',
    edits: [['- 172.30.0.0/16', '- 172.30.0.0/16\n  - 172.31.0.0/16']],
    faults: ['19 networking.serviceNetwork'],
  },
  {
    name: 'host prefix larger than its network',
    edits: [['hostPrefix: 23', 'hostPrefix: 13']],
    faults: ['17 networking.clusterNetwork[0].hostPrefix'],
    says: /at least 14/,
  },
  {
    name: 'host prefix 31',
    edits: [['hostPrefix: 23', 'hostPrefix: 31']],
    faults: ['17 networking.clusterNetwork[0].hostPrefix'],
  },
  {
    name: 'default host prefix does not fit',
    edits: [['10.128.0.0/14\n    hostPrefix: 23', '10.128.0.0/24']],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
    says: /23 by default/,
  },
  {
    name: 'a machine network that is a text',
    edits: [['  - cidr: 192.168.7.0/24', '  - 192.168.7.0/24']],
    faults: ['14 networking.machineNetwork[0]'],
  },
  {
    name: 'the old name machineCIDR',
    edits: [['  networkType: OVNKubernetes', '  machineCIDR: 10.0.0.0/16']],
    faults: ['12 networking.machineCIDR'],
    says: /Use machineNetwork instead/,
  },
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

for (const { name, edits = [], yaml, variable, faults, says, hides } of BAD) {
  t.test(`refused: ${name}`, async (t) => {
    const read = readSettings(yaml ?? edited(edits), variable);
    if (read.ok) {
      t.fail('it was accepted');
      return;
    }
    const places = read.faults.map(({ position, field }) =>
      position === undefined ? field : `${position.line} ${field}`,
    );
    t.same(places, faults);
    const text = read.faults.map(faultText).join('\n');
    if (says !== undefined) t.match(text, says);
    if (hides !== undefined) t.notMatch(text, hides);
    for (const { expected, found, fix } of read.faults) {
      t.ok(expected !== '' && found !== '' && /[.?]$/.test(fix), 'the fault says all three');
    }
  });
}

t.test('a fault is a line that an editor can follow', async (t) => {
  const read = readSettings(edited([['replicas: 1', 'replicas: 3']]), undefined);
  t.same(read.ok ? [] : read.faults.map(faultText), [
    'install-config.yaml:10:13 controlPlane.replicas: expected 1, found 3. Set replicas to 1: this installs one node; left out, it would mean three.',
  ]);
});

t.test('everything given', async (t) => {
  t.same(readSettings(GOOD, undefined), {
    ok: true,
    settings: {
      name: 'sno',
      baseDomain: 'example.com',
      hostname: 'sno1.example.com',
      networkType: 'OVNKubernetes',
      machineNetwork: ['192.168.7.0/24'],
      clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      serviceNetwork: ['172.30.0.0/16'],
      disk: '/dev/disk/by-id/wwn-0x1',
      coreosInstallerArgs: [],
      existingSystem: 'overwrite',
      pullSecret: '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}',
      sshKeys: [
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me',
      ],
    },
  });
});

const LEAST = `apiVersion: v1
baseDomain: example.com
metadata: {name: sno, creationTimestamp: null}
compute: [{name: worker, replicas: 0, architecture: amd64, hyperthreading: Enabled, platform: {}}]
controlPlane: {name: master, replicas: 1}
networking:
platform: {none: {}}
fips: false
publish: External
pullSecret: '{"auths":{}}'
`;

t.test('defaults, and the disk from the variable', async (t) => {
  const read = readSettings(LEAST, "--append-karg 'console=ttyS0 x' --offline /dev/sda");
  t.match(read, {
    ok: true,
    settings: {
      machineNetwork: ['10.0.0.0/16'],
      clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      serviceNetwork: ['172.30.0.0/16'],
      disk: '/dev/sda',
      coreosInstallerArgs: ['--append-karg', 'console=ttyS0 x', '--offline'],
      existingSystem: 'refuse',
      sshKeys: [],
    },
  });
  t.ok(read.ok && read.settings.hostname === undefined);
});

t.test('the same disk twice is no fault', async (t) => {
  const read = readSettings(GOOD, '/dev/disk/by-id/wwn-0x1 --console ttyS0');
  t.match(read, { ok: true, settings: { coreosInstallerArgs: ['--console', 'ttyS0'] } });
});

t.ok(BAD.length >= 40, `${BAD.length} bad files`);

import t from 'tap';
import { faultText } from '../../../cli/install-config/fault.ts';
import { readSettings } from '../../../cli/install-config/settings.ts';
import { identity } from './bad-identity.ts';
import { installation } from './bad-installation.ts';
import { networks } from './bad-networks.ts';
import { edited, GOOD } from './install-config-file.ts';

const BAD = [...identity, ...networks, ...installation];

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
      preflightWarnings: [],
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
      preflightWarnings: [],
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

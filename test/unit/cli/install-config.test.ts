import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { DISK_VARIABLE } from '../../../cli/install-config/disk-variable.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { accepted } from './accepted.ts';
import { agentsExecutable } from './agents-executable.ts';
import { acceptedNetworks, networks as withNetworks } from './bad-families.ts';
import { badInstallConfigs } from './bad-install-configs.ts';
import { edited, GOOD } from './install-config-file.ts';
import { type Run, sno } from './run-sno.ts';

/** Runs `sno create` on a folder with this file; `left` is the folder's contents afterwards. */
async function create(t: Tap, text: string, variable?: string): Promise<Run & { left: string[] }> {
  const dir = join(
    t.testdir({ agents: agentsExecutable(), cluster: { 'install-config.yaml': text } }),
    'cluster',
  );
  const args = ['--dir', dir, '--agents-executable', join(dir, '../agents')];
  const environment = variable === undefined ? {} : { [DISK_VARIABLE]: variable };
  const run = await sno(['create', 'single-node-ignition-config', ...args], environment);
  return { ...run, left: await readdir(dir) };
}

type Tap = Pick<typeof t, 'testdir'>;

/** A fault's line as far as `wanted` specifies it: in full, or its number and field. */
function asWanted(line: string, wanted: string | undefined): string {
  const text = line.replace('install-config.yaml:', '');
  if (wanted?.includes(': expected ')) return text;
  return text.replace(/: expected .*/, '').replace(/^(\d+):\d+ /, '$1 ');
}

for (const { name, edits = [], yaml, variable, faults, says, hides } of badInstallConfigs) {
  t.test(`refused: ${name}`, async (t) => {
    const { code, err, left } = await create(t, yaml ?? edited(edits), variable);
    const [head = '', ...lines] = err.split('\n');
    t.equal(code, 2);
    t.match(head, `${faults.length} error${faults.length === 1 ? '' : 's'} in `);
    t.same(
      lines.map((line, index) => asWanted(line, faults[index])),
      faults,
    );
    t.same(left, ['install-config.yaml'], 'nothing is written');
    if (says !== undefined) t.match(err, says);
    if (hides !== undefined) t.notMatch(err, hides);
    for (const line of lines) t.match(line, /: expected .+, found .+\. .+[.?]$/);
  });
}

t.test('a byte order mark and Windows line ends make no difference', async (t) => {
  const dressed = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  t.same(readInstallSettings(dressed(GOOD), undefined), readInstallSettings(GOOD, undefined));
  const { code, err } = await create(
    t,
    dressed(
      edited([
        ['apiVersion: v1', 'apiVersion: v2'],
        ['replicas: 1', 'replicas: 3'],
      ]),
    ),
  );
  t.equal(code, 2);
  t.match(err, /install-config\.yaml:1:13 apiVersion: expected v1, found "v2"/);
  t.match(err, /install-config\.yaml:10:13 controlPlane\.replicas: expected 1, found 3/);
});

t.test('the complete result for a file without a site', async (t) => {
  t.same(readInstallSettings(GOOD, undefined), {
    ok: true,
    settings: {
      cluster: {
        apiVersion: 'sno-agents/v1',
        controlPlane: 'kubernetes',
        name: 'sno',
        baseDomain: 'example.com',
        hostname: 'sno1.example.com',
        machineNetwork: ['192.168.7.0/24'],
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
        installation: {
          disk: '/dev/disk/by-id/wwn-0x1',
          coreosInstallerArgs: [],
          existingSystem: 'overwrite',
          kernelArguments: [],
          savePartitions: { labels: [], indexes: [] },
        },
        sshKeys: [
          'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me',
        ],
        imageMirrors: [],
        additionalNtpSources: [],
        metadataFromPods: 'block',
        preflightWarnings: [],
      },
      pullSecret: '{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}',
      architecture: undefined,
      networkType: 'OVNKubernetes',
      expectedAdapters: [],
      bundleWithoutProxy: false,
    },
  });
});

for (const { name, given, machine, cluster, service } of acceptedNetworks) {
  t.test(`accepted: ${name}`, async (t) => {
    const read = readInstallSettings(edited([withNetworks(given)]), undefined);
    t.match(read, {
      ok: true,
      settings: {
        cluster: {
          machineNetwork: machine,
          clusterNetwork: cluster.map(([cidr, hostPrefix]) => ({ cidr, hostPrefix })),
          serviceNetwork: service,
        },
      },
    });
  });
}

for (const { name, edits, gives = {} } of accepted) {
  t.test(`accepted: ${name}`, async (t) => {
    const read = readInstallSettings(edited(edits), undefined);
    t.same(read.ok ? [] : read.faults, []);
    t.match(read, { ok: true, settings: gives });
  });
}

const LEAST = `apiVersion: v1
baseDomain: example.com
metadata: {name: sno, creationTimestamp: null}
compute: [{name: worker, replicas: 0, architecture: amd64, hyperthreading: Enabled, platform: {}}]
controlPlane: {name: master, replicas: 1}
networking:
platform: {none: {}}
fips: false
publish: External
pullSecret: '{"auths":{"a":{"auth":"YTpi"}}}'
`;

t.test('defaults, and the disk from the variable', async (t) => {
  const read = readInstallSettings(LEAST, "--append-karg 'console=ttyS0 x' --offline /dev/sda");
  t.match(read, {
    ok: true,
    settings: {
      cluster: {
        machineNetwork: ['10.0.0.0/16'],
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
        installation: {
          disk: '/dev/sda',
          coreosInstallerArgs: ['--append-karg', 'console=ttyS0 x', '--offline'],
          existingSystem: 'refuse',
        },
        preflightWarnings: [],
        sshKeys: [],
      },
    },
  });
  t.equal(read.ok && read.settings.cluster.hostname, undefined);
});

t.test('the same disk twice is not a fault', async (t) => {
  const read = readInstallSettings(GOOD, '/dev/disk/by-id/wwn-0x1 --console ttyS0');
  t.match(read, {
    ok: true,
    settings: { cluster: { installation: { coreosInstallerArgs: ['--console', 'ttyS0'] } } },
  });
});

t.ok(badInstallConfigs.length >= 150, `${badInstallConfigs.length} bad files`);

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { decodeDataUrl } from '../../../lib/base/data-url.ts';
import { type IgnitionConfig, parseConfig } from '../../../lib/render/ignition/config.ts';
import { effectiveConfig } from '../../../lib/render/ignition/validate.ts';
import { nodeUnits } from '../../../units/installed.ts';
import { agentsExecutable } from './agents-executable.ts';
import { edited } from './install-config-file.ts';
import { type Run, sno } from './run-sno.ts';

const VALIDATOR = '/usr/bin/ignition-validate';
const OWN = {
  ignition: { version: '3.2.0' },
  storage: {
    directories: [{ path: '/etc/shop', mode: 0o750 }],
    files: [
      { path: '/etc/shop/till.conf', mode: 0o600, contents: { source: 'data:,till%20%3D%201' } },
    ],
    links: [
      { path: '/etc/localtime', target: '../usr/share/zoneinfo/Europe/Zurich', overwrite: true },
    ],
  },
  systemd: {
    units: [
      {
        name: 'till.service',
        enabled: true,
        contents: '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n',
      },
      {
        name: 'kubelet.service',
        dropins: [{ name: '50-shop.conf', contents: '[Service]\nNice=-5\n' }],
      },
      { name: 'chronyd.service', mask: true },
    ],
  },
  passwd: {
    users: [
      { name: 'clerk', groups: ['wheel'] },
      {
        name: 'core',
        sshAuthorizedKeys: [
          'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f own',
        ],
      },
    ],
  },
};

type Tap = Pick<typeof t, 'testdir'>;

function folder(t: Tap, own: unknown, more: Record<string, string> = {}): string {
  const cluster = { 'install-config.yaml': edited([['  existingSystem: overwrite\n', '']]) };
  const text = typeof own === 'string' ? own : JSON.stringify(own);
  return t.testdir({ 'sno-agents': agentsExecutable(), cluster, 'own.ign': text, ...more });
}

/** `sno create KIND` in the folder, with its own.ign. */
function create(
  kind: 'aio-ignition' | 'single-node-ignition-config',
  at: string,
  args: readonly string[],
): Promise<Run> {
  const common = ['--dir', join(at, 'cluster'), '--agents-executable', join(at, 'sno-agents')];
  return sno([
    'create',
    kind,
    ...common,
    '--payload-sha256',
    'a'.repeat(64),
    ...args,
    ...(URLS[kind] ?? []),
  ]);
}

const URLS: Record<string, readonly string[]> = {
  'aio-ignition': ['--agents-url', 'http://192.0.2.1/a', '--payload-url', 'http://192.0.2.1/p'],
  'single-node-ignition-config': [
    '--agents-url',
    'http://192.0.2.1/a',
    '--payload-url',
    'http://192.0.2.1/p',
  ],
};
const NAMES = {
  'aio-ignition': 'aio.ign',
  'single-node-ignition-config': 'bootstrap-in-place-for-live-iso.ign',
} as const;

const read = async (at: string, kind: keyof typeof NAMES): Promise<IgnitionConfig> =>
  parseConfig(await readFile(join(at, 'cluster', NAMES[kind]), 'utf8'), kind);

function fileIn({ storage }: IgnitionConfig, path: string) {
  const file = storage?.files?.find((each) => each.path === path);
  return file && { mode: file.mode, text: decodeDataUrl(file.contents ?? {}).toString('utf8') };
}

t.test('an all-in-one host gets what a person adds, and Ignition accepts it', async (t) => {
  const at = folder(t, OWN);
  const { code, err } = await create('aio-ignition', at, ['--ignition', join(at, 'own.ign')]);
  t.strictSame([code, err.replaceAll(/^Notice: .*$/gm, '').trim()], [0, '']);
  if (existsSync(VALIDATOR))
    await execa(VALIDATOR, [join(at, 'cluster/aio.ign')], { timeout: 60_000 });
  const { config, faults } = effectiveConfig(await read(at, 'aio-ignition'));
  t.strictSame(faults, []);
  t.strictSame(fileIn(config, '/etc/shop/till.conf'), { mode: 0o600, text: 'till = 1' });
  t.ok(fileIn(config, '/etc/sno-agents/cluster.json'), 'beside all that the host needs');
  const unit = (name: string) => config.systemd?.units?.find((each) => each.name === name);
  t.match(unit('till.service'), { enabled: true, contents: /ExecStart/ });
  const kubelet = unit('kubelet.service');
  t.equal(kubelet?.contents, nodeUnits.find(({ name }) => name === 'kubelet.service')?.contents);
  t.match(kubelet?.dropins, [{ name: '50-shop.conf' }]);
  const core = config.passwd?.users?.find(({ name }) => name === 'core');
  t.equal(core?.sshAuthorizedKeys?.length, 2, 'both keys');
  t.strictSame(core?.groups, ['sudo']);
});

t.test('a live host carries it for the installed one', async (t) => {
  const at = folder(t, OWN);
  const kind = 'single-node-ignition-config';
  const { code, err } = await create(kind, at, [
    '--ignition',
    join(at, 'own.ign'),
    '--set',
    'steadyStateMs=3600000',
  ]);
  t.strictSame([code, err.replaceAll(/^Notice: .*$/gm, '').trim()], [0, '']);
  const config = await read(at, kind);
  t.strictSame(JSON.parse(fileIn(config, '/opt/openshift/own.ign')?.text ?? ''), OWN);
  t.equal(fileIn(config, '/opt/openshift/own.ign')?.mode, 0o600);
  t.equal(fileIn(config, '/etc/shop/till.conf'), undefined, 'not on the live host');
  t.strictSame(fileIn(config, '/etc/sno-agents/settings.json'), {
    mode: 0o600,
    text: '{"steadyStateMs":3600000}\n',
  });
});

t.test('settings are those of a file, and of options that win over it', async (t) => {
  const at = folder(t, OWN, { 's.json': '{"steadyStateMs": 1000, "maxIgnitionMiB": 20}' });
  const args = [
    '--settings',
    join(at, 's.json'),
    '--set',
    'steadyStateMs=2000',
    '--set',
    'approveCertificates=false',
    // A text, although it is a number.
    '--set',
    'tpm2Pcrs=7',
  ];
  t.equal((await create('aio-ignition', at, args)).code, 0);
  const { text = '' } =
    fileIn(await read(at, 'aio-ignition'), '/etc/sno-agents/settings.json') ?? {};
  t.strictSame(JSON.parse(text), {
    steadyStateMs: 2000,
    maxIgnitionMiB: 20,
    approveCertificates: false,
    tpm2Pcrs: '7',
  });
});

/** A change of OWN, and what the message must name. */
const refused: [what: string, own: unknown, message: RegExp][] = [
  ['no JSON', 'storage:\n  files: []\n', /own\.ign cannot be used.*\n.*is YAML: /],
  ['another spec', { ignition: { version: '2.3.0' } }, /ignition\.version/],
  ['nothing', '', /is empty/],
  [
    'a remote config',
    { ignition: { version: '3.2.0', config: { merge: [{ source: 'https://x.test/a' }] } } },
    /remote config/,
  ],
  [
    'a replacement',
    {
      ignition: {
        version: '3.2.0',
        config: {
          replace: { source: 'data:,%7B%22ignition%22%3A%7B%22version%22%3A%223.2.0%22%7D%7D' },
        },
      },
    },
    /replace/,
  ],
  [
    'a path twice',
    { ...OWN, storage: { files: [{ path: '/etc/a' }, { path: '/etc/a' }] } },
    /\/etc\/a is defined more than once/,
  ],
  [
    'a place of Kubernetes in a config within',
    {
      ignition: {
        version: '3.2.0',
        config: {
          merge: [
            {
              source: `data:,${encodeURIComponent(
                JSON.stringify({
                  ignition: { version: '3.2.0' },
                  storage: { files: [{ path: '/etc/kubernetes/manifests/x.yaml', mode: 0o600 }] },
                }),
              )}`,
            },
          ],
        },
      },
    },
    /\/etc\/kubernetes\/manifests\/x\.yaml is in \/etc\/kubernetes, whose files belong/,
  ],
  [
    'a readable key',
    {
      ...OWN,
      storage: {
        files: [
          {
            path: '/etc/a',
            mode: 0o644,
            contents: { source: 'data:,-----BEGIN%20PRIVATE%20KEY-----%0AMIIE' },
          },
        ],
      },
    },
    /\/etc\/a contains a private key/,
  ],
  [
    'a static pod',
    { ...OWN, storage: { files: [{ path: '/etc/kubernetes/manifests/mine.yaml' }] } },
    /mine\.yaml is in \/etc\/kubernetes/,
  ],
  [
    'the settings',
    { ...OWN, storage: { files: [{ path: '/etc/sno-agents/settings.json' }] } },
    /settings\.json is made by --settings/,
  ],
  [
    'a folder of etcd',
    { ...OWN, storage: { directories: [{ path: '/var/lib/etcd', mode: 0o755 }] } },
    /\/var\/lib\/etcd/,
  ],
  [
    'the kubelet',
    { ...OWN, systemd: { units: [{ name: 'kubelet.service', contents: '[Service]\n' }] } },
    /kubelet\.service is a unit of this program/,
  ],
  [
    'a masked agent',
    { ...OWN, systemd: { units: [{ name: 'sno-payload.service', mask: true }] } },
    /sno-payload\.service is a unit/,
  ],
  [
    'a unit of another kind of host',
    { ...OWN, systemd: { units: [{ name: 'bootkube.service', enabled: false }] } },
    /bootkube\.service is a unit/,
  ],
  [
    'a link of ours',
    { ...OWN, storage: { links: [{ path: '/usr/local/bin/sno-backup', target: '/bin/true' }] } },
    /sno-backup/,
  ],
  [
    'the host name',
    {
      ...OWN,
      storage: { files: [{ path: '/etc/hostname', contents: { source: 'data:,other' } }] },
    },
    /\/etc\/hostname/,
  ],
];

for (const kind of ['aio-ignition', 'single-node-ignition-config'] as const) {
  t.test(`${kind}: what cannot be added is named, and nothing is written`, async (t) => {
    for (const [what, own, message] of refused) {
      const at = folder(t, own);
      const { code, err } = await create(kind, at, ['--ignition', join(at, 'own.ign')]);
      t.equal(code, 2, what);
      t.match(err, message, what);
      t.notMatch(err, /\n {4}at /, 'no stack trace');
      t.strictSame(await readdir(join(at, 'cluster')), ['install-config.yaml'], what);
    }
  });
}

t.test('options that cannot be used', async (t) => {
  const at = folder(t, OWN, { 'list.json': '[]' });
  const own = join(at, 'own.ign');
  const options: [args: string[], message: RegExp][] = [
    [['--ignition', own, '--butane', own], /exclude each other/],
    [['--ignition', join(at, 'none')], /--ignition .*none cannot be read/],
    [['--ignition', at], /not a regular file/],
    [['--set', 'steadyStateMs'], /expected NAME=VALUE/],
    [
      ['--set', 'steadystatems=1'],
      /"steadystatems", which is no setting; did you mean steadyStateMs\?/,
    ],
    [['--set', 'etcdMs=1', '--set', 'etcdMs=2'], /--set etcdMs is there twice; .* Remove one/],
    [['--set', 'steadyStateMs=-1'], /steadyStateMs/],
    [['--set', 'steadyStateMs=soon'], /steadyStateMs/],
    [['--settings', join(at, 'list.json')], /a JSON object of settings/],
    [['--settings', join(at, 'none')], /cannot be read/],
    [['--set', 'gatherRecipients=age1nobody'], /recipients of age.*age1nobody is not/],
  ];
  for (const [args, message] of options) {
    const { code, err } = await create('aio-ignition', at, args);
    t.equal(code, 2, args.join(' '));
    t.match(err, message, args.join(' '));
  }
});

t.test('a newer spec is a notice', async (t) => {
  const at = folder(t, { ...OWN, ignition: { version: '3.4.0' } });
  const { code, out, err } = await create('aio-ignition', at, ['--ignition', join(at, 'own.ign')]);
  t.equal(code, 0);
  t.match(out + err, /Ignition's spec 3\.4\.0: the operating system of the host must read it/);
});

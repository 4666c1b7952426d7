/** Ignition configs with one fault each, derived from a complete one. */
import { isRecord } from '../../../lib/base/json.ts';

const HASH = `sha512-${'a'.repeat(128)}`;
const GUID = '0FC63DAF-8483-4772-8E79-3D69D8477DE4';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me';
const owner = { user: { id: 5 }, group: { name: 'x' } };

/** Every key of the newest spec; what excludes another is in an entry of its own. */
const COMPLETE = {
  ignition: {
    version: '3.5.0',
    config: {
      merge: [
        { source: 'https://x.example.com/a', httpHeaders: [{ name: 'A', value: 'b' }] },
        {
          source: 'data:,%7B%22ignition%22%3A%7B%22version%22%3A%223.0.0%22%7D%7D',
          compression: '',
        },
      ],
      replace: { source: '' },
    },
    timeouts: { httpResponseHeaders: 10, httpTotal: 20 },
    security: { tls: { certificateAuthorities: [{ source: 'data:,x' }] } },
    proxy: {
      httpProxy: 'http://p.example.com',
      httpsProxy: 'https://p.example.com',
      noProxy: ['a'],
    },
  },
  kernelArguments: { shouldExist: ['quiet'], shouldNotExist: ['x'] },
  passwd: {
    users: [
      {
        ...{ name: 'core', passwordHash: '*', sshAuthorizedKeys: [KEY], uid: 5, gecos: 'x' },
        ...{ homeDir: '/x', noCreateHome: true, primaryGroup: 'a', groups: ['a'], system: false },
        ...{ noUserGroup: true, noLogInit: true, shell: '/bin/sh', shouldExist: true },
      },
    ],
    groups: [{ name: 'a', gid: 5, passwordHash: '*', shouldExist: true, system: true }],
  },
  storage: {
    disks: [
      {
        ...{ device: '/dev/vdb', wipeTable: true },
        partitions: [
          { label: 'data', number: 1, sizeMiB: 5, startMiB: 0, typeGuid: GUID, guid: GUID },
          { number: 2, wipePartitionEntry: true, shouldExist: true, resize: true },
        ],
      },
    ],
    raid: [
      ...[{ name: 'r', level: 'raid1', devices: ['/dev/vdb1'], spares: 0, options: ['x', 'x'] }],
    ],
    luks: [
      {
        ...{ name: 'l', device: '/dev/vdb1', label: 'l', uuid: GUID, options: ['x', 'x'] },
        ...{
          openOptions: ['x'],
          discard: true,
          wipeVolume: true,
          keyFile: { source: 'https://x.example.com', verification: { hash: HASH } },
        },
        clevis: {
          ...{ tpm2: true, threshold: 1 },
          tang: [{ url: 'http://x.example.com', thumbprint: 'x', advertisement: '{}' }],
        },
      },
      {
        ...{ name: 'm', device: '/dev/vdb2' },
        clevis: { custom: { pin: 'tpm2', config: '{}', needsNetwork: false } },
      },
      { name: 'n', device: '/dev/vdb3', cex: { enabled: true } },
    ],
    filesystems: [
      {
        ...{ device: '/dev/vdb1', format: 'xfs', label: 'd', uuid: GUID, path: '/srv' },
        ...{ options: ['x', 'x'], mountOptions: ['ro', 'ro'], wipeFilesystem: true },
      },
    ],
    files: [
      { path: '/a', overwrite: true, ...owner, mode: 420, contents: { source: 'data:,x' } },
      { path: '/b', append: [{ source: 'data:,x' }, { source: 'data:,x' }] },
    ],
    directories: [{ path: '/d', overwrite: false, mode: 493, ...owner }],
    links: [{ path: '/l', target: '/x', hard: false, overwrite: true, ...owner }],
  },
  systemd: {
    units: [
      {
        ...{ name: 'a.service', enabled: true, mask: false },
        contents: '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=a.target\n',
        dropins: [{ name: 'a.conf', contents: '[Service]\nNice=5\n' }],
      },
    ],
  },
};

const OTHERS: readonly unknown[] = [
  ...[null, '', 'x', '5', 5, -1, 1.5, true, 'true', [], {}, ['x'], [5], [{}], '/x', '/x/', '/'],
  ...['http://x.example.com', 'HTTPS://x.example.com', 'gs://x/y', 's3://x/y', 'ftp://x', 'none'],
  ...['raid6', 'linear', 'ext4', 'vfat', 'a:b', 'a/b', 'a b', 'x'.repeat(13), 'x'.repeat(60), GUID],
];

type Path = readonly (string | number)[];

export interface SpecCase {
  readonly name: string;
  readonly config: unknown;
}

/** The config with another value at a place; undefined removes it. */
function changed(root: unknown, [first, ...rest]: Path, to: (value: unknown) => unknown): unknown {
  if (first === undefined) return to(root);
  if (Array.isArray(root)) {
    return root.flatMap((entry: unknown, at) => {
      if (at !== first) return [entry];
      const value = changed(entry, rest, to);
      return value === undefined ? [] : value instanceof Twice ? [entry, entry] : [value];
    });
  }
  return Object.fromEntries(
    Object.entries(isRecord(root) ? root : {}).flatMap(([key, entry]) => {
      if (key !== first) return [[key, entry]];
      const value = changed(entry, rest, to);
      if (value instanceof Renamed) return [[value.to(key), entry]];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

class Twice {}
class Renamed {
  readonly to: (key: string) => string;
  constructor(to: (key: string) => string) {
    this.to = to;
  }
}

function places(value: unknown, path: Path = []): Path[] {
  const inside = Array.isArray(value) ? [...value.entries()] : Object.entries(value ?? {});
  const below = typeof value === 'object' ? inside : [];
  return [
    ...(path.length === 0 ? [] : [path]),
    ...below.flatMap(([key, entry]) => places(entry, [...path, key])),
  ];
}

/** The complete config, and with one change at each of its places. */
export const faultyConfigs = (): SpecCase[] => [
  { name: 'complete', config: COMPLETE },
  ...places(COMPLETE).flatMap((path) => {
    const at = (what: string, to: unknown): SpecCase => ({
      name: `${path.join('.')} ${what}`,
      config: changed(COMPLETE, path, () => to),
    });
    const renamed = (to: (key: string) => string) => at('renamed', new Renamed(to));
    return [
      at('missing', undefined),
      ...OTHERS.map((other) => at(`= ${JSON.stringify(other)}`, other)),
      ...(typeof path.at(-1) === 'number'
        ? [at('twice', new Twice())]
        : [renamed((key) => `${key}x`), renamed((key) => key.toUpperCase())]),
    ];
  }),
];

/** What an entry needs besides the key that is looked at. */
const NAMES = [
  'name',
  'device',
  'path',
  'level',
  'devices',
  'target',
  'url',
  'thumbprint',
  'number',
];

/** A value with nothing but the way to a place. */
function only(root: unknown, [first, ...rest]: Path): unknown {
  if (first === undefined) return root;
  if (Array.isArray(root))
    return root.flatMap((entry, at) => (at === first ? only(entry, rest) : []));
  return Object.fromEntries(
    Object.entries(isRecord(root) ? root : {}).flatMap(([key, entry]) => {
      if (key === first) return [[key, only(entry, rest)]];
      return NAMES.includes(key) ? [[key, entry]] : [];
    }),
  );
}

/** Each place of the complete config by itself, in each version of the spec. */
export const configsOfVersions = (): SpecCase[] =>
  [0, 1, 2, 3, 4, 5].flatMap((minor) =>
    places(COMPLETE)
      .filter((path) => path.length > 1 && path.join('.') !== 'ignition.version')
      .map((path) => {
        const alone = only(COMPLETE, path);
        const { ignition, ...others } = isRecord(alone) ? alone : {};
        const version = `3.${minor}.0`;
        return {
          name: `${path.join('.')} in ${version}`,
          config: { ignition: { ...(isRecord(ignition) ? ignition : {}), version }, ...others },
        };
      }),
  );

const disk = (...partitions: readonly object[]) => ({
  disks: [{ device: '/dev/vdb', partitions }],
});
const luks = (more: object) => ({ luks: [{ name: 'l', device: '/dev/vdb1', ...more }] });
const raid = (more: object) => ({ raid: [{ name: 'r', devices: ['/dev/vdb1'], ...more }] });
const filesystem = (more: object) => ({ filesystems: [{ device: '/dev/vdb', ...more }] });
const unit = (more: object) => ({ units: [{ name: 'a.service', ...more }] });
const tang = [{ url: 'http://x.example.com', thumbprint: 'x' }];

/** Two things that are right by themselves, and wrong together or not. */
export const combinedConfigs = (): SpecCase[] =>
  [
    {
      storage: disk(
        { number: 1, startMiB: 1, sizeMiB: 10 },
        { number: 2, startMiB: 11, sizeMiB: 5 },
      ),
    },
    {
      storage: disk(
        { number: 1, startMiB: 1, sizeMiB: 10 },
        { number: 2, startMiB: 10, sizeMiB: 5 },
      ),
    },
    {
      storage: disk(
        { number: 2, startMiB: 5, sizeMiB: 1 },
        { number: 1, startMiB: 1, sizeMiB: 10 },
      ),
    },
    {
      storage: disk({ number: 1, startMiB: 1, sizeMiB: 0 }, { number: 2, startMiB: 5, sizeMiB: 1 }),
    },
    {
      storage: disk({ number: 1, startMiB: 5, sizeMiB: 0 }, { number: 2, startMiB: 1, sizeMiB: 0 }),
    },
    {
      storage: disk({ number: 1, startMiB: 0, sizeMiB: 9 }, { number: 2, startMiB: 0, sizeMiB: 9 }),
    },
    { storage: disk({ number: 1, startMiB: 5 }, { number: 2, startMiB: 5 }) },
    { storage: disk({ label: 'a' }, { label: 'b' }, { number: 0, label: 'c' }) },
    { storage: disk({ label: 'a' }, { number: 1, label: 'a' }) },
    { storage: disk({ label: '' }, { number: 1, label: 'ü'.repeat(18) }) },
    { storage: disk({ label: 'ü'.repeat(19) }) },
    { storage: disk({ number: 1, shouldExist: false }, { number: 2, shouldExist: true }) },
    { storage: disk({ number: 1, shouldExist: false }, { label: 'x' }) },
    { storage: disk({ number: 1, shouldExist: false, label: 'x' }) },
    { storage: disk({ number: 1, shouldExist: false, sizeMiB: 0 }) },
    { storage: disk({ number: 1, shouldExist: false, guid: '' }) },
    { storage: { ...disk({ number: 1 }), ...filesystem({ format: 'xfs', wipeFilesystem: true }) } },
    { storage: { ...disk(), ...filesystem({ format: 'xfs', wipeFilesystem: true }) } },
    { storage: filesystem({}) },
    { storage: filesystem({ path: '/srv' }) },
    { storage: filesystem({ wipeFilesystem: false }) },
    { storage: filesystem({ path: '/', format: 'ext4', label: 'x'.repeat(16) }) },
    { storage: filesystem({ path: '', format: 'ext4', label: 'ü'.repeat(9) }) },
    { storage: raid({ level: 'linear', spares: 1 }) },
    { storage: raid({ level: '0', spares: 1 }) },
    { storage: raid({ level: 'stripe', spares: 0 }) },
    { storage: raid({ level: 'raid5', spares: 1 }) },
    { storage: raid({ level: 'mirror', devices: [] }) },
    { storage: luks({ clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: true } }) },
    { storage: luks({ clevis: { custom: { pin: 'sss', config: '{}' }, tpm2: false, tang: [] } }) },
    { storage: luks({ clevis: { custom: { pin: '', config: '' }, tang } }) },
    { storage: luks({ clevis: { custom: { needsNetwork: true } } }) },
    { storage: luks({ clevis: { custom: {} }, keyFile: {} }) },
    { storage: luks({ cex: { enabled: true }, clevis: { tang } }) },
    { storage: luks({ cex: { enabled: true }, clevis: { threshold: 1 } }) },
    { storage: luks({ cex: { enabled: true }, keyFile: { source: 'data:,x' } }) },
    { storage: luks({ cex: { enabled: false }, keyFile: { source: 'data:,x' } }) },
    { storage: { files: [{ path: '/x', user: { id: 1, name: 'a' } }] } },
    { storage: { files: [{ path: '/x', group: { id: 1, name: '' } }] } },
    { storage: { files: [{ path: '/x', overwrite: true }] } },
    { storage: { files: [{ path: '/x', contents: { verification: { hash: HASH } } }] } },
    { storage: { files: [{ path: '/x', contents: { source: '', httpHeaders: [] } }] } },
    { storage: { links: [{ path: '/x', target: '/y', hard: true }] } },
    { storage: { links: [{ path: '/x', target: '/y', hard: true, user: { id: 1 } }] } },
    { storage: { links: [{ path: '/x', target: '/y' }], files: [{ path: '/x/z' }] } },
    {
      storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
      systemd: unit({ contents: '[Unit]\n' }),
    },
    {
      storage: { files: [{ path: '/etc/systemd/system/a.service' }] },
      systemd: unit({ contents: '' }),
    },
    {
      storage: { links: [{ path: '/etc/systemd/system/a.service.d/b.conf', target: '/x' }] },
      systemd: unit({ dropins: [{ name: 'b.conf', contents: '[Unit]\n' }] }),
    },
    { kernelArguments: { shouldExist: ['a'], shouldNotExist: ['a'] } },
    { kernelArguments: { shouldExist: ['a', 'a'] } },
    { passwd: { users: [{ name: 'core' }], groups: [{ name: 'core' }] } },
    {
      ignition: {
        version: '3.5.0',
        config: { replace: { httpHeaders: [{ name: 'a', value: 'b' }] } },
      },
    },
  ].map((config) => ({
    name: JSON.stringify(config),
    config: { ignition: { version: '3.5.0' }, ...config },
  }));

const UNITS: readonly string[] = [
  '[Service]\nExecStart=/usr/bin/podman run --rm \\\n  # the port\n  -p 8080:80 \\\n  quay.io/x/web\n',
  '[Service]\nExecStart=/usr/bin/podman run \\\n  -p 8080:80 \\\n  quay.io/x/web\n[Install]\nWantedBy=a.target\n',
  ...[
    'ExecStart /bin/true',
    'ExecStart: /bin/true',
    'EOF',
    'A=b\\',
    'A',
    ' A = b ',
    '=b',
    'A\r=b',
  ].flatMap((line) => [`[Service]\n${line}\n[Unit]\n`, `[Service]\n${line}`]),
  ...[
    '[Service',
    '[Service] # x',
    '[Service][Unit]',
    '[Ser\nvice]\nA=b',
    '[Service]\r\nA=b\r\n',
    '[]',
  ],
  ...[
    '# a \\\nb\n[Service]\nA=b',
    '; a\n\n [Service]\nA=b',
    '[Service]\n  # x \\ \nA=b',
    '\n\n',
    '',
  ],
  ...[
    '[Service]\nA=b \\\n\nC=d',
    '[Service]\nA=b \\ \nC',
    '[Service]\nA=\\\n\\\nC',
    '[Service]\n\tA=b',
  ],
  `[Service]\n${'A=b\n'.repeat(100)}${'C'.repeat(5000)}=d\n`,
];
const MODES = [0o1777, 0o2755, 0o4755, 0o777, 1777, 755];
const SOURCES: readonly string[] = [
  ...['http://x.example.com ', 'http://{{host}}/x', 'http://x:abc/', 'http://[::1'],
  ...[
    'http://x/%zz',
    'http://x/?a=%zz',
    'http://x/#%zz',
    'http://u:p@x/',
    'http://u:p q@x/',
    'http://x:/',
  ],
  ...[
    'http://[fd00::1]:80/a',
    'http://[fe80::1%25eno1]/',
    'http://x/a b',
    'http://x_y/',
    'http://x|y/',
  ],
  ...[
    'http://',
    'http:///x',
    'HTTP://x',
    'https://x?y',
    'tftp://x/y',
    's3://b/k',
    's3://b/k?versionId=',
    's3://b/k?versionId=1',
  ],
  ...[
    'arn:aws:s3:::b/k',
    'arn:aws:ec2:::b/k',
    'arn:aws:s3:::b',
    'arn:x',
    'arn:aws:s3:us-west-1:1:accesspoint/a/object/b',
  ],
  ...[
    'arn:aws:s3:us-west-1:1:accesspoint/a',
    'data:,a b',
    'data:,é',
    'data:,a#b',
    'data:,"<>{}',
    'data:,%41',
    'data:,%4',
  ],
  ...[
    'data:text,x',
    'data:text/plain,x',
    'data:text/plain; charset=utf-8,x',
    'data:text/plain;charset=utf-8,x',
  ],
  ...[
    'data:text/plain;charset="utf-8",x',
    'data:;charset=utf-8;base64,eA==',
    'data:image/svg+xml;utf8,x',
    'data:x-a/b,y',
  ],
  ...[
    'Data:,x',
    'data:;BASE64,eA==',
    'data:;base64,eA==',
    'data:;base64,eA%3D%3D',
    'data:;base64,eA=',
    'data://,x',
    'data:font/woff,x',
  ],
  ...['data:,a;b,c', 'data:;base64,', 'data:,', 'data:', 'ftp://x/y', 'file:///x', '/x', 'x'],
];

/** Texts within a config: units, modes and URLs. */
export const configsWithTexts = (): SpecCase[] =>
  [
    ...UNITS.flatMap((contents) => [
      { systemd: unit({ contents }) },
      { systemd: unit({ dropins: [{ name: 'a.conf', contents }] }) },
    ]),
    ...MODES.map((mode) => ({ storage: { directories: [{ path: '/x', mode }] } })),
    ...SOURCES.flatMap((source) => [
      { storage: { files: [{ path: '/x', contents: { source } }] } },
      { storage: luks({ clevis: { tang: [{ url: source, thumbprint: 'x' }] } }) },
      { ignition: { version: '3.5.0', proxy: { httpProxy: source } } },
    ]),
  ].map((config) => ({
    name: JSON.stringify(config).slice(0, 200),
    config: { ignition: { version: '3.5.0' }, ...config },
  }));

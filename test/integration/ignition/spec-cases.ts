/** Ignition configs with one fault each, derived from a complete one. */
import { isRecord } from '../../../lib/base/json.ts';

export const HASH = `sha512-${'a'.repeat(128)}`;
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

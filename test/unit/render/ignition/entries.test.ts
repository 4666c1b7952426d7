import t from 'tap';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
  withDropins,
} from '../../../../lib/render/ignition/entries.ts';

const files = [file('/etc/z', 0o600, 'z'), file('/etc/app/a/b', 0o644, 'b')];
const units = [
  unit('z.service', { contents: '[Unit]\n', enabled: true }),
  unit('a.service', {
    dropins: [
      { name: '20.conf', contents: '[Unit]\n' },
      { name: '10.conf', contents: '[Unit]\n' },
    ],
  }),
];

t.test('parents are listed, except those of the operating system', async (t) => {
  const config = configOf({
    files,
    links: [link('/var/lib/app/l', '/etc/z')],
    directories: [directory('/etc/app', 0o700), directory('/var/data/d', 0o700)],
  });
  t.same(config.storage?.directories, [
    { path: '/etc/app', mode: 0o700 },
    { path: '/etc/app/a', mode: 0o755 },
    { path: '/var/data', mode: 0o755 },
    { path: '/var/data/d', mode: 0o700 },
    { path: '/var/lib/app', mode: 0o755 },
  ]);
});

t.test('the order of the input does not matter', async (t) => {
  const users = [user('core', { groups: ['sudo'] }), user('admin', {})];
  const one = configOf({ files, units, users });
  const other = configOf({
    files: files.toReversed(),
    units: units.toReversed(),
    users: users.toReversed(),
  });
  t.equal(JSON.stringify(one), JSON.stringify(other));
  t.same(
    one.systemd?.units?.map(({ name }) => name),
    ['a.service', 'z.service'],
  );
  t.same(
    one.systemd?.units?.[0]?.dropins?.map(({ name }) => name),
    ['10.conf', '20.conf'],
  );
});

t.test('empty lists are left out', async (t) => {
  t.same(configOf({}), { ignition: { version: '3.2.0' } });
});

t.test('a file has mode, contents and hash', async (t) => {
  t.match(file('/etc/a', 0o600, 'x'), {
    path: '/etc/a',
    mode: 384,
    overwrite: true,
    contents: { source: 'data:,x', verification: { hash: /^sha512-/ } },
  });
});

t.test(
  'drop-ins are added to the unit of that name; those of other units get an entry',
  async (t) => {
    const added = (unit: string, name: string) => ({ unit, name, contents: `of ${unit}` });
    const before = [
      unit('a.service', { enabled: true, dropins: [{ name: '10.conf', contents: 'own' }] }),
      unit('b.service', { contents: '[Unit]\n' }),
      unit('c.service', { mask: true }),
    ];
    const after = withDropins(before, [
      added('a.service', '20.conf'),
      added('b.service', '20.conf'),
      added('os.service', '30.conf'),
      added('os.service', '40.conf'),
    ]);
    t.strictSame(after, [
      {
        name: 'a.service',
        enabled: true,
        dropins: [
          { name: '10.conf', contents: 'own' },
          { name: '20.conf', contents: 'of a.service' },
        ],
      },
      {
        name: 'b.service',
        contents: '[Unit]\n',
        dropins: [{ name: '20.conf', contents: 'of b.service' }],
      },
      { name: 'c.service', mask: true },
      {
        name: 'os.service',
        dropins: [
          { name: '30.conf', contents: 'of os.service' },
          { name: '40.conf', contents: 'of os.service' },
        ],
      },
    ]);
    t.strictSame(withDropins(before, []), before);
  },
);

t.test('files and links replace those of the image', async (t) => {
  t.strictSame(link('/etc/a', '/etc/b'), { path: '/etc/a', target: '/etc/b', overwrite: true });
  t.equal(file('/etc/a', 0o600, 'x', { overwrite: false }).overwrite, false);
  const long = 'long '.repeat(200);
  t.equal(file('/etc/a', 0o600, long).contents?.compression, 'gzip');
  t.notMatch(file('/etc/a', 0o600, long, { gzip: false }).contents, { compression: 'gzip' });
});

t.test('listed links and directories are not added again as parents', async (t) => {
  const config = configOf({
    files: [file('/data/app/a', 0o600, 'a'), file('/etc/a', 0o600, 'a')],
    links: [link('/data', '/var/data')],
    directories: [directory('/data/app', 0o700)],
  });
  t.strictSame(config.storage?.directories, [{ path: '/data/app', mode: 0o700 }]);
});

/** Directories of the image whose modes Ignition would change (`/opt` and `/root` are links). */
const OF_THE_IMAGE = [
  ...['/boot', '/etc', '/home', '/mnt', '/opt', '/root', '/run', '/srv', '/tmp', '/usr'],
  ...['/usr/local/bin', '/usr/local/lib', '/usr/local/sbin', '/var/lib', '/var/log', '/var/opt'],
  ...['/var/tmp', '/etc/containers', '/etc/containers/registries.conf.d', '/etc/cron.d'],
  ...['/etc/NetworkManager/system-connections', '/etc/profile.d', '/etc/ssh', '/etc/ssl/certs'],
  ...['/etc/sysctl.d', '/etc/systemd/network', '/etc/systemd/system', '/etc/tmpfiles.d'],
  ...['/etc/modules-load.d', '/etc/modprobe.d', '/etc/pki/ca-trust/source/anchors'],
];

t.test('directories of the image keep their modes', async (t) => {
  for (const path of OF_THE_IMAGE) {
    const config = configOf({ files: [file(`${path}/a`, 0o644, 'a')] });
    t.equal(config.storage?.directories, undefined, path);
  }
});

t.test('entries with the same name keep their order', async (t) => {
  const config = configOf({
    files: ['b', 'a', 'c'].map((text) => file('/etc/a', 0o600, text)),
  });
  t.strictSame(
    config.storage?.files?.map(({ contents }) => contents?.source),
    ['data:,b', 'data:,a', 'data:,c'],
  );
});

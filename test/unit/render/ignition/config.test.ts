import t from 'tap';
import {
  highestVersion,
  invalidConfig,
  isReadBy,
  parseConfig,
  readConfig,
} from '../../../../lib/render/ignition/config.ts';

const read = (sections: object, ignition: object = {}) => {
  const found = readConfig(
    JSON.stringify({ ignition: { version: '3.2.0', ...ignition }, ...sections }),
  );
  return found.ok ? [] : found.faults.map(({ at, problem }) => `${at} ${problem}`);
};
const hash = (algorithm: string, digits: number) => `${algorithm}-${'0a'.repeat(digits / 2)}`;
const contents = (verification: object) => ({ source: 'data:,', verification });

t.test('a config with all known fields is unchanged', async (t) => {
  const node = { path: '/etc/a', overwrite: false, user: { id: 0 }, group: { name: 'wheel' } };
  const unit = { enabled: true, mask: false, contents: '', dropins: [{ name: 'a.conf' }] };
  const types = 'service socket device mount automount swap target path timer snapshot slice scope';
  const config = {
    ignition: { version: '3.5.0', config: { merge: [{ source: 'data:,' }], replace: {} } },
    storage: {
      files: [
        { ...node, mode: 0o7777, contents: { compression: 'gzip' } },
        { path: '/b', mode: 0, append: [{ source: 'data:,', compression: '' }] },
        { path: '/..c/.d', contents: contents({ hash: hash('sha256', 64) }) },
        { path: '/d', contents: contents({ hash: hash('sha512', 128) }), foreign: [1] },
      ],
      directories: [{ ...node, path: '/e', mode: 0o755 }],
      links: [{ ...node, path: '/f', target: 'e', hard: true }],
      foreign: true,
    },
    systemd: { units: types.split(' ').map((type) => ({ name: `a@b.${type}`, ...unit })) },
    passwd: { users: [{ name: 'a', sshAuthorizedKeys: ['k'], groups: ['g'], foreign: {} }] },
    foreign: { a: 1 },
  };
  t.strictSame(parseConfig(JSON.stringify(config), 'the test'), config);
});

t.test('every fault of a config is found, with its location', async (t) => {
  const storage = {
    files: [
      { path: '/a', mode: 0o10000, overwrite: 1, user: { id: 1.5 }, group: { name: 2 } },
      { path: '/b', mode: 0.5, contents: { source: 1, compression: 'xz' }, append: {} },
      { path: '/c', contents: contents({ hash: hash('sha512', 64) }), append: [{ source: 1 }] },
      { path: '/d', contents: contents({ hash: `x${hash('sha256', 64)}` }) },
      { path: '/e', contents: contents({ hash: `${hash('sha256', 64)}0` }) },
      { path: '/f', contents: contents({ hash: hash('SHA256', 64) }), user: { name: 1 } },
      ...['', 'a', '/', '/a/', '//a', '/a//b', '/./a', '/a/..', '/a\0b'].map((path) => ({ path })),
    ],
    directories: [{ path: '/a', mode: '0755' }],
    links: [{ path: '/a', target: '', hard: 'no' }],
  };
  const systemd = {
    units: [
      { name: 'a.service', enabled: 1, mask: 1, contents: 1 },
      {
        name: 'b.service',
        dropins: [{ name: '.conf' }, { name: 'a/b.conf' }, { name: 'a.confx' }],
      },
      { name: 'c.service', dropins: [{ name: 'a.conf', contents: 1 }] },
      ...['service', '.service', 'a/b.service', 'a b.service', 'a.servicex', 'a.unit'].map(
        (name) => ({ name }),
      ),
    ],
  };
  const passwd = { users: [{ name: '' }, { name: 'a', sshAuthorizedKeys: 'k', groups: [1] }] };
  const faults = read({ storage, systemd, passwd }, { config: { merge: {}, replace: 'x' } });
  const places = faults.map((fault) => fault.split(' ')[0]);
  const each = (place: string, from: number, to: number, field: string) =>
    Array.from({ length: to - from + 1 }, (_, index) => `${place}[${from + index}].${field}`);
  t.strictSame(
    places.toSorted(),
    [
      'ignition.config.merge',
      'ignition.config.replace',
      ...['mode', 'overwrite', 'user.id', 'group.name'].map((field) => `storage.files[0].${field}`),
      ...['mode', 'contents.source', 'contents.compression', 'append'].map(
        (field) => `storage.files[1].${field}`,
      ),
      'storage.files[2].append[0].source',
      'storage.files[5].user.name',
      ...each('storage.files', 2, 5, 'contents.verification.hash'),
      ...each('storage.files', 6, 14, 'path'),
      'storage.directories[0].mode',
      'storage.links[0].target',
      'storage.links[0].hard',
      ...['enabled', 'mask', 'contents'].map((field) => `systemd.units[0].${field}`),
      ...each('systemd.units[1].dropins', 0, 2, 'name'),
      'systemd.units[2].dropins[0].contents',
      ...each('systemd.units', 3, 8, 'name'),
      'passwd.users[0].name',
      'passwd.users[1].sshAuthorizedKeys',
      'passwd.users[1].groups[0]',
    ].toSorted(),
  );
  for (const says of [
    'storage.files[2].contents.verification.hash is not sha512-<hex> or sha256-<hex>',
    'storage.files[6].path is not a clean absolute path',
    'storage.links[0].target is empty',
    'systemd.units[3].name is not a systemd unit name',
    'systemd.units[1].dropins[0].name is not the name of a .conf file',
    'passwd.users[0].name is empty',
  ]) {
    t.ok(faults.includes(says), says);
  }
});

t.test('spec versions from 3.0.0 to 3.5.0 are supported', async (t) => {
  const fault = ['ignition.version is not a spec version from 3.0.0 to 3.5.0'];
  for (const version of ['3.0.0', '3.5.0']) t.strictSame(read({}, { version }), [], version);
  for (const version of ['2.5.0', '3.6.0', '3.2.1', '13.2.0', '3.2.0-dev', '3x2.0']) {
    t.strictSame(read({}, { version }), fault, version);
  }
  t.equal(highestVersion('3.1.0', '3.4.0', '3.2.0'), '3.4.0');
  t.strictSame(
    ['3.3.0', '3.4.0', '3.5.0'].map((version) => isReadBy(version, '3.4.0')),
    [true, true, false],
  );
});

t.test('a null counts as an omitted field, and in a list as an entry without fields', async (t) => {
  const storage = { files: [{ path: '/a', mode: null, user: { id: null } }], links: null };
  const text = JSON.stringify({ ignition: { version: '3.2.0' }, storage, passwd: null });
  t.strictSame(parseConfig(text, 'the test'), {
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/a', user: {} }] },
  });
  const entry = JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files: [null] } });
  t.throws(() => parseConfig(entry, 'the test'), {
    message: /storage\.files\[0\] expected a mapping, found nothing/,
  });
});

t.test('a config must do something', async (t) => {
  const rows: [sections: object, ignition: object, isEmpty: boolean][] = [
    [{}, {}, true],
    [{ storage: {}, systemd: { units: [] }, passwd: { users: [] } }, { config: {} }, true],
    [{}, { config: { merge: [], replace: {} } }, true],
    [{ foreign: [] }, {}, true],
    [{ storage: { files: [], links: [{ path: '/a' }] } }, {}, false],
    [{ passwd: { users: [{ name: 'core' }] } }, {}, false],
    [{ foreign: 'a' }, {}, false],
    [{}, { config: { merge: [{ source: 'data:,' }] } }, false],
    [{}, { config: { replace: { source: 'data:,' } } }, false],
  ];
  for (const [sections, ignition, isEmpty] of rows) {
    const text = JSON.stringify({ ignition: { version: '3.2.0', ...ignition }, ...sections });
    const parse = () => parseConfig(text, 'the server');
    if (isEmpty) t.throws(parse, { kind: 'fatal', message: /the server is empty/ }, text);
    else t.doesNotThrow(parse, text);
  }
});

t.test('the error lists the faults, one per line', async (t) => {
  const fault = (at: string) => ({ at, problem: 'is wrong' });
  t.match(invalidConfig('the server', [fault('a')]), {
    kind: 'fatal',
    message: 'The Ignition config from the server has an error:\n  a is wrong',
  });
  t.match(invalidConfig('the server', [fault('a'), fault('b[0]')]), {
    message: 'The Ignition config from the server has 2 errors:\n  a is wrong\n  b[0] is wrong',
  });
});

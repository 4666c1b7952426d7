import t from 'tap';
import {
  configOf,
  directory,
  dropin,
  file,
  link,
  unit,
  user,
} from '../../../lib/ignition/entries.ts';

const files = [file('/etc/z', 0o600, 'z'), file('/etc/app/a/b', 0o644, 'b')];
const units = [
  unit('z.service', { contents: '[Unit]\n', enabled: true }),
  unit('a.service', { dropins: [dropin('20.conf', '[Unit]\n'), dropin('10.conf', '[Unit]\n')] }),
];

t.test('parents are listed, the operating system is not', async (t) => {
  const config = configOf({
    files,
    links: [link('/var/lib/app/l', '/etc/z')],
    directories: [directory('/etc/app', 0o700)],
  });
  t.same(config.storage?.directories, [
    { path: '/etc/app', mode: 0o700 },
    { path: '/etc/app/a', mode: 0o755 },
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

t.test('what is empty is left out', async (t) => {
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

import t from 'tap';
import type { IgnitionConfig } from '../../../../lib/render/ignition/config.ts';
import { inapplicable, plainEntries } from '../../../../lib/render/ignition/plain-entries.ts';

const ignition = { version: '3.2.0' };

t.test('entries as a running system applies them', async (t) => {
  const config: IgnitionConfig = {
    ignition,
    storage: {
      directories: [{ path: '/a/b/c' }, { path: '/a', mode: 0o700 }],
      files: [
        { path: '/a/text', mode: 0o600, contents: { source: 'data:,text' } },
        { path: '/a/empty' },
      ],
      links: [{ path: '/a/link', target: '/a/text' }],
    },
    systemd: {
      units: [
        { name: 'a.service', enabled: true, contents: '[Service]\n' },
        { name: 'b.service', enabled: false, dropins: [{ name: '1.conf', contents: '[Unit]\n' }] },
        { name: 'c.service', mask: true },
      ],
    },
  };
  const { files, ...rest } = plainEntries(config, '/run/systemd/system');
  t.same(rest, {
    directories: [
      { path: '/a', mode: 0o700 },
      { path: '/a/b/c', mode: 0o755 },
    ],
    links: [
      { path: '/a/link', target: '/a/text' },
      { path: '/run/systemd/system/c.service', target: '/dev/null' },
    ],
    enabled: ['a.service'],
    disabled: ['b.service'],
  });
  t.same(
    files.map(({ path, mode, contents }) => [path, mode, `${contents}`]),
    [
      ['/a/text', 0o600, 'text'],
      ['/a/empty', 0o644, ''],
      ['/run/systemd/system/a.service', 0o644, '[Service]\n'],
      ['/run/systemd/system/b.service.d/1.conf', 0o644, '[Unit]\n'],
    ],
  );
});

t.test('what only Ignition can apply is named', async (t) => {
  const of = (more: object) =>
    inapplicable({ ignition, ...more }).map(({ at, problem }) => `${at} ${problem}`);
  const core = { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 A'], groups: ['sudo'] };
  const root = { user: { name: 'root' }, group: { id: 0 } };
  t.same(
    of({ storage: { disks: [], files: [{ path: '/a', ...root }] }, passwd: { users: [core] } }),
    [],
  );
  const cases: [object, RegExp][] = [
    [{ kernelArguments: { shouldExist: ['quiet'] } }, /^kernelArguments is applied before/],
    [{ storage: { disks: [{ device: '/dev/vdb' }] } }, /^storage\.disks is applied before/],
    [{ storage: { luks: [{ name: 'root' }] } }, /^storage\.luks/],
    [{ storage: { raid: [{ name: 'md' }] } }, /^storage\.raid/],
    [{ storage: { filesystems: [{ device: '/dev/vdb' }] } }, /^storage\.filesystems/],
    [{ passwd: { groups: [{ name: 'till' }] } }, /^passwd\.groups/],
    [{ passwd: { users: [{ name: 'till' }] } }, /^passwd\.users till is created before/],
    [{ passwd: { users: [{ ...core, passwordHash: '$6$a' }] } }, /^passwd\.users core/],
    [{ storage: { files: [{ path: '/a', user: { name: 'till' } }] } }, /^\/a belongs to another/],
    [{ storage: { directories: [{ path: '/a', group: { id: 7 } }] } }, /^\/a belongs to another/],
    [{ storage: { files: [{ path: '/a', append: [{ source: 'data:,a' }] }] } }, /^\/a appends/],
    [
      { storage: { files: [{ path: '/a', contents: { source: 'https://a.test' } }] } },
      /^\/a is fetched/,
    ],
    [{ storage: { links: [{ path: '/a', target: '/b', hard: true }] } }, /^\/a is a hard link/],
  ];
  for (const [config, says] of cases) {
    const found = of(config);
    t.equal(found.length, 1, `${says}`);
    t.match(found[0], says);
  }
});

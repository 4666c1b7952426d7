import t from 'tap';
import { configSchema } from '../../../../lib/render/ignition/config.ts';
import { dataUrl } from '../../../../lib/render/ignition/data-url.ts';
import { configOf, file, link, unit, user } from '../../../../lib/render/ignition/entries.ts';
import { effectiveConfig } from '../../../../lib/render/ignition/validate.ts';
import { combined } from './combined.ts';

const long = 'long '.repeat(200);

t.test(
  'a config that must win comes last and replaces the master, including compression',
  async (t) => {
    const ours = configOf({ files: [file('/etc/ours', 0o600, 'o')] });
    const master = configOf({
      files: [file('/etc/hostname', 0o644, long), file('/etc/m', 0o644, 'm')],
    });
    const mustWin = configOf({ files: [file('/etc/hostname', 0o644, 'sno1\n')] });
    const { config, merged } = combined(ours, master, mustWin);
    t.equal(config.ignition.config?.merge?.length, 2);
    const { config: onTheHost } = effectiveConfig(config);
    t.same(onTheHost.storage, merged.storage, 'a host gets what was computed');
    const hostname = merged.storage?.files?.find(({ path }) => path === '/etc/hostname');
    t.match(hostname, { contents: { source: 'data:,sno1%0A', compression: '' } });
  },
);

t.test(
  'a config that must win can have entries of any kind, and its origin is named if it loses',
  async (t) => {
    const master = configOf({
      files: [file('/etc/hostname', 0o644, 'm')],
      links: [link('/etc/localtime', '/utc')],
      units: [unit('m.service', { enabled: true })],
    });
    const mustWin = configOf(
      { links: [link('/etc/localtime', '/cet')], units: [unit('m.service', { enabled: false })] },
      '3.3.0',
    );
    const { config, merged } = combined(configOf({}), master, mustWin);
    t.same(config.ignition, {
      version: '3.3.0',
      config: { merge: [master, mustWin].map((child) => dataUrl(JSON.stringify(child))) },
    });
    t.match(merged.storage?.links, [{ path: '/etc/localtime', target: '/cet' }]);
    t.match(merged.systemd?.units, [{ name: 'm.service', enabled: false }]);
    const noShell = configOf({ users: [user('core', { shell: '/bin/sh' })] });
    const masked = configSchema.parse({
      ignition: { version: '3.2.0' },
      systemd: { units: [{ name: 'm.service', mask: true }] },
    });
    t.doesNotThrow(() => combined(noShell, master, configOf({})), 'nothing need win');
    t.throws(() => combined(configOf({}), masked, mustWin), {
      message:
        /only one can take effect:\n {2}m\.service \(mask\): what must win, https:\/\/api-int/,
    });
  },
);

t.test('nothing is refused where ours loses to a config that must win', async (t) => {
  const ours = configOf({ files: [file('/etc/hostname', 0o644, 'o'), file('/etc/a', 0o600, 'o')] });
  const mustWin = configOf({ files: [file('/etc/hostname', 0o644, 'w')] });
  const master = configOf({ files: [file('/etc/hostname', 0o644, 'm')] });
  const { merged } = combined(ours, master, mustWin);
  t.match(merged.storage?.files, [
    { path: '/etc/a' },
    { path: '/etc/hostname', contents: { source: 'data:,w' } },
  ]);
});

t.test('entries that must win must not be appended to', async (t) => {
  const master = configSchema.parse({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/etc/hostname', append: [{ source: 'data:,x' }] }] },
  });
  const mustWin = configOf({ files: [file('/etc/hostname', 0o644, 'sno1\n')] });
  t.throws(() => combined(configOf({}), master, mustWin), {
    message: /\/etc\/hostname \(append\)/,
  });
});

t.test('a config that must win permits no other collisions', async (t) => {
  const both = (text: string) =>
    configOf({ files: ['/etc/a', '/etc/hostname'].map((path) => file(path, 0o644, text)) });
  const mustWin = configOf({ files: [file('/etc/hostname', 0o644, 'w')] });
  t.throws(() => combined(both('o'), both('m'), mustWin), {
    message: /only one can take effect:\n {2}\/etc\/a \(contents\): the bootstrap, .*$/,
  });
});

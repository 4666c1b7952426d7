import t from 'tap';
import { combine } from '../../../../lib/render/ignition/combine.ts';
import {
  configSchema,
  type IgnitionConfig,
  parseConfig,
} from '../../../../lib/render/ignition/config.ts';
import { dataUrl } from '../../../../lib/render/ignition/data-url.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
} from '../../../../lib/render/ignition/entries.ts';
import { effectiveConfig } from '../../../../lib/render/ignition/validate.ts';
import { combined, MASTER, OURS } from './combined.ts';

const long = 'long '.repeat(200);

t.test('without collisions both are included, the master as a child', async (t) => {
  const ours = configOf({
    files: [file('/etc/ours', 0o600, 'o')],
    units: [unit('o.service', { enabled: true })],
  });
  const master = configOf({
    files: [file('/etc/master', 0o644, long)],
    units: [unit('m.service', { mask: true })],
  });
  const { config, text, merged } = combined(ours, master);
  t.equal(config.ignition.config?.merge?.length, 1);
  t.same(
    merged.storage?.files?.map(({ path }) => path),
    ['/etc/ours', '/etc/master'],
  );
  const { config: onTheHost, faults } = effectiveConfig(parseConfig(text, 'the result'));
  t.same(faults, []);
  t.same(onTheHost.storage, merged.storage, 'a host gets what was computed');
  t.same(onTheHost.systemd, merged.systemd);
});

const COLLISIONS: readonly {
  name: string;
  ours: IgnitionConfig;
  master: IgnitionConfig;
  says: RegExp;
}[] = [
  {
    name: 'the same file',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: configOf({ files: [file('/etc/a', 0o600, 'm')] }),
    says: /\/etc\/a \(contents\): the bootstrap, https:\/\/api-int/,
  },
  {
    name: 'the same contents with another mode',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: configOf({ files: [file('/etc/a', 0o644, 'o')] }),
    says: /\/etc\/a \(mode\)/,
  },
  {
    name: 'a file that is compressed here and plain there',
    ours: configOf({ files: [file('/etc/a', 0o600, long)] }),
    master: configOf({ files: [file('/etc/a', 0o600, 'm')] }),
    says: /\/etc\/a \(contents\)/,
  },
  {
    name: 'a file to which the master appends',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: configSchema.parse({
      ignition: { version: '3.2.0' },
      storage: { files: [{ path: '/etc/a', append: [{ source: 'data:,x' }] }] },
    }),
    says: /\/etc\/a \(append\)/,
  },
  {
    name: 'a file here, a link there',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: configOf({ links: [link('/etc/a', '/etc/b')] }),
    says: /\/etc\/a \(the file\)/,
  },
  {
    name: 'a directory with another mode',
    ours: configOf({ directories: [directory('/data', 0o700)] }),
    master: configOf({ directories: [directory('/data', 0o755)] }),
    says: /\/data \(mode\)/,
  },
  {
    name: 'the same unit',
    ours: configOf({ units: [unit('a.service', { contents: '[Unit]\nA=1\n' })] }),
    master: configOf({ units: [unit('a.service', { contents: '[Unit]\nA=2\n' })] }),
    says: /a\.service \(contents\)/,
  },
  {
    name: 'a unit that the master masks',
    ours: configOf({ units: [unit('a.service', { contents: '[Unit]\n' })] }),
    master: configOf({ units: [unit('a.service', { mask: true })] }),
    says: /a\.service \(mask\)/,
  },
  {
    name: 'the same drop-in',
    ours: configOf({
      units: [unit('a.service', { dropins: [{ name: '1.conf', contents: '[Unit]\n' }] })],
    }),
    master: configOf({
      units: [unit('a.service', { dropins: [{ name: '1.conf', contents: '' }] })],
    }),
    says: /a\.service\.d\/1\.conf \(contents\)/,
  },
  {
    name: 'a link to elsewhere',
    ours: configOf({ links: [link('/etc/a', '/etc/b')] }),
    master: configOf({ links: [link('/etc/a', '/etc/c')] }),
    says: /\/etc\/a \(target\)/,
  },
  {
    name: 'a user with another shell',
    ours: configOf({ users: [user('core', { shell: '/bin/bash' })] }),
    master: configOf({ users: [user('core', { shell: '/sbin/nologin' })] }),
    says: /user core \(shell\)/,
  },
  {
    name: 'a file that the master gives to another user',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: masterFile({ user: { id: 1000 } }),
    says: /\/etc\/a \(user\)/,
  },
  {
    name: 'a file that the master gives to a user by name',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: masterFile({ user: { name: 'core' } }),
    says: /\/etc\/a \(user\)/,
  },
  {
    name: 'a file that the master gives to another group',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: masterFile({ group: { id: 10, name: 'root' } }),
    says: /\/etc\/a \(group\)/,
  },
];

/** A config that sets other fields of our file than its contents. */
function masterFile(fields: object): IgnitionConfig {
  return configSchema.parse({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: '/etc/a', ...fields }] },
  });
}

for (const { name, ours, master, says } of COLLISIONS) {
  t.test(`refused: ${name}`, async (t) => {
    t.throws(() => combined(ours, master), { kind: 'fatal', message: says });
  });
}

t.test('all collisions are reported together', async (t) => {
  const ours = configOf({
    files: ['/etc/a', '/etc/b', '/etc/c'].map((path) => file(path, 0o600, 'o')),
  });
  const master = configOf({ files: ['/etc/a', '/etc/c'].map((path) => file(path, 0o600, 'm')) });
  t.throws(() => combined(ours, master), {
    message: /\/etc\/a \(contents\)[\s\S]*\/etc\/c \(contents\)/,
  });
});

const TOGETHER: readonly { name: string; ours: IgnitionConfig; master: IgnitionConfig }[] = [
  {
    name: 'a file of ours that the master gives to root, its owner anyway',
    ours: configOf({ files: [file('/etc/a', 0o600, 'o')] }),
    master: masterFile({ user: { id: 0, name: 'root' }, group: { name: 'root' } }),
  },
  {
    name: 'a directory to which the master adds an owner',
    ours: configOf({ directories: [directory('/data', 0o700)] }),
    master: configSchema.parse({
      ignition: { version: '3.2.0' },
      storage: { directories: [{ path: '/data', user: { name: 'core' } }] },
    }),
  },
  {
    name: 'equal entries',
    ours: configOf({ files: [file('/etc/x/a', 0o600, 'o')] }),
    master: configOf({ files: [file('/etc/x/a', 0o600, 'o')] }),
  },
  {
    name: 'drop-ins of a unit that the master has',
    ours: configOf({
      units: [unit('a.service', { dropins: [{ name: '1.conf', contents: '[Unit]\n' }] })],
    }),
    master: configOf({ units: [unit('a.service', { contents: '[Unit]\n', enabled: true })] }),
  },
  {
    name: 'keys of one user',
    ours: configOf({ users: [user('core', { sshAuthorizedKeys: ['1'] })] }),
    master: configOf({ users: [user('core', { sshAuthorizedKeys: ['2'], groups: ['sudo'] })] }),
  },
];
for (const { name, ours, master } of TOGETHER) {
  t.test(`accepted: ${name}`, async (t) => {
    t.doesNotThrow(() => combined(ours, master));
  });
}

t.test('the version is one that the target supports', async (t) => {
  const master = configOf({ files: [file('/etc/m', 0o644, 'm')] }, '3.5.0');
  t.equal(combined(configOf({}), master, undefined, '3.5.0').config.ignition.version, '3.5.0');
  const older = configOf({ files: [file('/etc/m', 0o644, 'm')] }, '3.1.0');
  t.equal(combined(configOf({}), older, undefined, '3.2.0').config.ignition.version, '3.2.0');
  t.throws(() => combined(configOf({}), master, undefined, '3.4.0'), {
    kind: 'fatal',
    message: /expected spec 3\.4\.0 or older; found spec 3\.5\.0/,
  });
});

t.test('the result is validated', async (t) => {
  const master = configOf({ links: [link('/etc/app', '/elsewhere')] });
  const ours = configOf({ files: [file('/etc/key', 0o644, '-----BEGIN PRIVATE KEY-----\n')] });
  t.throws(() => combined(ours, master), { message: /\/etc\/key contains a private key/ });
  const below = configSchema.parse({
    ignition: { version: '3.2.0' },
    storage: { files: [file('/etc/app/a', 0o600, 'a')] },
  });
  t.throws(() => combined(below, master), {
    message: /\/etc\/app\/a is below \/etc\/app, which is a link/,
  });
  t.throws(
    () =>
      combine({
        ours: { origin: OURS, config: configOf({}) },
        master: { origin: MASTER, config: configOf({ files: [file('/etc/m', 0o644, 'm')] }) },
        targetSpec: '3.4.0',
        limitBytes: 100,
      }),
    { message: /only 100 fit/ },
  );
});

t.test('configs merged by the master are checked; remote ones are refused', async (t) => {
  const inner = configOf({ files: [file('/etc/a', 0o600, 'm')] });
  const outer = configSchema.parse({
    ignition: { version: '3.2.0', config: { merge: [dataUrl(JSON.stringify(inner))] } },
  });
  const ours = configOf({ files: [file('/etc/a', 0o600, 'o')] });
  t.throws(() => combined(ours, outer), { message: /\/etc\/a \(contents\)/ });
  const remote = configSchema.parse({
    ignition: { version: '3.2.0', config: { merge: [{ source: 'https://x/y' }] } },
  });
  t.throws(() => combined(ours, remote), {
    kind: 'fatal',
    // Only in the master: our config is not part of the error.
    message: /^The Ignition config from https:\/\/api-int\S* has an error:\n.*remote config/,
  });
});

const UNUSABLE: readonly (readonly [string, RegExp])[] = [
  ['', /is empty/],
  [' \n', /is empty/],
  ['<html>', /is not JSON/],
  ['{}', /ignition/],
  ['[]', /error/],
  ['{"ignition":{"version":"2.2.0"}}', /not a spec version/],
  ['{"ignition":{"version":"3.6.0"}}', /not a spec version/],
  ['{"ignition":{"version":"3.2.0"}}', /is empty/],
  ['{"ignition":{"version":"3.2.0"},"storage":{"files":[]},"systemd":{}}', /is empty/],
  [
    '{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"a"}]}}',
    /storage\.files\[0\]\.path/,
  ],
];
for (const [text, says] of UNUSABLE) {
  t.test(`a master that cannot be used: ${JSON.stringify(text)}`, async (t) => {
    t.throws(() => parseConfig(text, MASTER), { kind: 'fatal', message: says });
  });
}

t.test('unknown fields and nulls do no harm', async (t) => {
  const text =
    '{"ignition":{"version":"3.4.0","config":{"replace":{"source":null}}},"kernelArguments":{"shouldExist":["a"]}}';
  t.same(parseConfig(text, MASTER), {
    ignition: { version: '3.4.0', config: { replace: {} } },
    kernelArguments: { shouldExist: ['a'] },
  });
});

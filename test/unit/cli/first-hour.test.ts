import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { installConfigTemplate } from '../../../cli/create/install-config-template.ts';
import { habitOf, usualOrder } from '../../../cli/habits.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { runSno } from '../../../cli/sno.ts';
import { snoReference } from '../../../docs/sno-reference.ts';
import { GOOD } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const KEY = /ssh-ed25519 \S+/.exec(GOOD)?.[0] ?? '';
const KINDS = ['single-node', 'all-in-one'] as const;
const ANSWERS = { name: 'sno', baseDomain: 'example.com', disk: '/dev/sda', sshKey: KEY };

/** Without the "#" before each field; sentences stay comments. */
const uncommented = (text: string) => text.replace(/^( *)#(?! \S)(.*\S.*)$/gm, '$1$2');

t.test(
  'the template is valid once it is filled in, with all that it offers or nothing of it',
  async (t) => {
    for (const kind of KINDS) {
      const host = { writesDisk: kind === 'single-node' };
      const answers = { ...ANSWERS, machineNetwork: '192.168.7.0/24', hostname: 'sno.example.com' };
      for (const given of [ANSWERS, answers]) {
        const text = installConfigTemplate(kind, given);
        for (const each of [text, uncommented(text)]) {
          const read = readInstallSettings(each, undefined, host);
          t.same(read.ok ? [] : read.faults, [], each);
        }
      }
      t.ok(
        uncommented(installConfigTemplate(kind)).includes('\n  networkConfig:'),
        'fields are found',
      );
    }
  },
);

t.test('each placeholder that is left is refused by the name of its field', async (t) => {
  const fields = {
    name: 'metadata.name',
    baseDomain: 'baseDomain',
    sshKey: 'sshKey',
    disk: 'bootstrapInPlace.installationDisk',
  };
  for (const kind of KINDS) {
    const left = Object.entries(fields).filter(
      ([name]) => kind === 'single-node' || name !== 'disk',
    );
    for (const [name, field] of left) {
      const text = installConfigTemplate(kind, { ...ANSWERS, [name]: undefined });
      const read = readInstallSettings(text, undefined, { writesDisk: kind === 'single-node' });
      t.match(read, { ok: false, faults: [{ field }] }, `${kind} ${name}`);
    }
    const read = readInstallSettings(installConfigTemplate(kind), undefined);
    t.ok(!read.ok && read.faults.length >= left.length, 'all at once');
  }
});

t.test('sno create install-config, then verify, then create', async (t) => {
  const dir = t.testdir();
  t.match(await sno(['create', 'install-config', '--dir', dir]), {
    code: 0,
    out: /Wrote .*verify/s,
  });
  const path = join(dir, 'install-config.yaml');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.match(await sno(['--dir', dir, 'verify', 'install-config']), {
    code: 2,
    err: /4 errors in .*baseDomain: .*metadata\.name: .*installationDisk: .*sshKey: /s,
  });
  t.match(await sno(['create', 'install-config', '--dir', dir]), { code: 2 }, 'it is kept');
  writeFileSync(path, installConfigTemplate('single-node', ANSWERS));
  const verified = await sno(['verify', 'install-config', '--dir', dir]);
  t.match(verified, {
    code: 0,
    out: /is valid: sno\.example\.com, .*\/dev\/sda/,
    err: /^Notice: /,
  });
  t.notMatch(verified.out, 'Notice', 'notices are on standard error');
  t.match(await sno(['verify', 'install-config', '--dir', dir, '--aio']), {
    code: 0,
    err: /ignored: bootstrapInPlace\.installationDisk/,
  });
});

t.test('--ask judges each answer, and asks again', async (t) => {
  const dir = t.testdir({ 'id.pub': `${KEY} me\n`, secret: '{"auths":{"a.b":{"auth":"YTpi"}}}' });
  const asking = async (lines: readonly string[], ...args: string[]) => {
    const err: string[] = [];
    const code = await runSno(['create', 'install-config', '--ask', ...args], {
      environment: {},
      print: () => undefined,
      complain: (text) => err.push(text),
      answers: async function* () {
        yield* lines;
      },
      signal: AbortSignal.timeout(60_000),
    });
    return { code, err: err.join('\n') };
  };
  const key = join(dir, 'id.pub');
  const lines = ['NO', '', 'sno', 'example.com', '/dev/sda1', '/dev/sda', 'sno.example.com'];
  const rest = ['192.168.7.1/24', '192.168.7.0/24', '/nowhere', key, join(dir, 'secret')];
  const made = await asking([...lines, ...rest], '--dir', join(dir, 'a'));
  t.match(made, {
    code: 0,
    err: /Name of.*Expected .*An answer is needed.*complete disk.*cannot be read/s,
  });
  t.match(await sno(['verify', 'install-config', '--dir', join(dir, 'a')]), { code: 0 });
  t.match(readFileSync(join(dir, 'a/install-config.yaml'), 'utf8'), 'a.b');
  const aio = await asking(
    ['sno', 'example.com', '', '', key, ''],
    '--dir',
    join(dir, 'b'),
    '--aio',
  );
  t.match(aio, { code: 0 });
  t.notMatch(aio.err, 'Disk');
  const ended = await asking(['sno'], '--dir', join(dir, 'c'));
  t.match(ended, { code: 2, err: /standard input ended.*leave --ask out/s });
  t.notOk(existsSync(join(dir, 'c')));
});

t.test('sno explain of a field', async (t) => {
  for (const [name, code, says] of [
    ['install-config.bootstrapInPlace.installationDisk', 0, /value: .*disk.*required: no.*by-id/s],
    ['install-config.compute.replicas', 0, /compute\[\]\.replicas.*0 to 100.*required: yes/s],
    ['install-config.compute[0].replicas', 0, /0 to 100/],
    ['install-config.networking', 0, /networking\.machineNetwork/],
    ['install-config', 0, /baseDomain +required.*sshKey/s],
    ['install-config.yaml', 0, /baseDomain/],
    ['site-config', 0, /FIELD/],
    [
      'install-config.installationDisk',
      2,
      /Did you mean install-config\.bootstrapInPlace\.installationDisk\?/,
    ],
    ['install-config.baseDomian', 2, /Did you mean install-config\.baseDomain\?/],
    ['install-confg.x', 2, /Did you mean install-config\?/],
    ['topolgy', 2, /Did you mean topology\?/],
  ] as const) {
    const run = await sno(['explain', name]);
    t.match(run, { code, [code === 0 ? 'out' : 'err']: says }, name);
  }
  t.match(await sno(['explain', 'versions']), { code: 0, out: /KUBERNETES/ });
  t.match(await sno(['explain']), { code: 2, err: /topology/ });
});

t.test('habits of openshift-install work, or get what there is instead in one line', async (t) => {
  for (const [args, instead] of [
    [['agent', 'create', 'image', '--dir', 'x'], /sno create single-node-iso/],
    [['--dir', 'x', '--log-level=debug', 'create', 'cluster'], /sno wait-for install-complete/],
    [['create', 'ignition-configs'], /single-node-ignition-config/],
    [['create', 'manifests', '--dir', 'x'], /DIR\/manifests/],
    [['gather', 'bootstrap'], /installer-gather\.sh.*sno analyze/],
    [['destroy', 'cluster'], /erase its disk/],
    [['coreos', 'print-stream-json'], /live ISO/],
  ] as const) {
    const run = await sno(args);
    t.match(run, { code: 2, err: instead }, args.join(' '));
    t.notMatch(run.err, '\n', 'one line');
  }
  for (const args of [['create'], ['create', 'payload'], ['analyze', 'x'], ['wait-for']]) {
    t.equal(habitOf(args), undefined, 'commands of ours are none');
  }
  t.match(await sno(['version']), { code: 0, out: (await sno(['--version'])).out });
  t.match(await sno(['completion', 'bash']), { code: 0, out: /complete .*_sno sno/ });
  t.match(await sno(['completion', 'csh']), { code: 2, err: /bash, zsh, fish/ });
  const page = await sno(['create', 'payload', '--help']);
  t.match(page.out, '--kubernetes');
  t.same(await sno(['help', 'create', 'payload']), page);
  t.same(await sno(['help']), await sno(['--help']));
});

t.test('options before the command', async (t) => {
  for (const [args, usual] of [
    [
      ['--dir', 'x', 'verify', 'y'],
      ['verify', 'y', '--dir', 'x'],
    ],
    [
      ['--log-level=info', '--dir=x', 'a', '--', 'b'],
      ['a', '--log-level=info', '--dir=x', '--', 'b'],
    ],
    [['--version'], ['--version']],
    [['--dir'], ['--dir']],
    [[], []],
  ] as const) {
    t.same(usualOrder(args), usual);
  }
  const dir = t.testdir();
  for (const level of [['--log-level', 'debug'], ['--log-level=error']]) {
    for (const args of [
      [...level, '--dir', dir, 'verify', 'install-config'],
      ['verify', 'install-config', ...level, '--dir', dir],
    ]) {
      t.match(await sno(args), { code: 2, err: /install-config\.yaml/ }, args.join(' '));
    }
  }
  t.match(await sno(['verify', 'install-config', '--log-level', 'loud']), {
    code: 2,
    err: /debug, info/,
  });
});

t.test('help fits 80 columns', async (t) => {
  const text = await snoReference(AbortSignal.timeout(60_000));
  const pages = Array.from(text.matchAll(/```text\n([\s\S]*?)```/g), ([, page = '']) => page);
  t.ok(pages.length > 20, `${pages.length} pages`);
  t.same(
    pages.flatMap((page) => page.split('\n')).filter((line) => line.length > 80),
    [],
  );
});

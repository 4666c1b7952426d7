import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { agentsExecutable } from './agents-executable.ts';
import { type Edit, edited } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const SERVED = [
  ...['--payload-sha256', 'a'.repeat(64), '--agents-url', 'http://192.0.2.1/sno-agents'],
  ...['--payload-url', 'http://192.0.2.1/p'],
];
const URL = 'https://boot.example.com/6f1c/aio.ign';
const NO_DISK: readonly Edit[] = [
  ['  installationDisk: /dev/disk/by-id/wwn-0x1\n', ''],
  ['  existingSystem: overwrite\n', ''],
];

type Tap = Pick<typeof t, 'testdir'>;

function create(t: Tap, url: string, edits: readonly Edit[] = []) {
  const cluster = { 'install-config.yaml': edited([...NO_DISK, ...edits]) };
  const folder = t.testdir({ 'sno-agents': agentsExecutable(), cluster });
  const dir = join(folder, 'cluster');
  const given = ['--dir', dir, '--agents-executable', join(folder, 'sno-agents'), ...SERVED];
  const ended = sno(['create', 'aio-ignition', ...given, '--pointer-url', url]);
  return { dir, ended };
}

t.test('a pointer is small, and accepts this very config alone', async (t) => {
  const { dir, ended } = create(t, URL);
  const { code, err } = await ended;
  t.equal(code, 0, err);
  t.match(err, /aio\.ign has keys.*delete it there/);
  const path = join(dir, 'aio-pointer.ign');
  const text = await readFile(path, 'utf8');
  t.ok(text.length < 1024, `${text.length} bytes`);
  const config = await readFile(join(dir, 'aio.ign'));
  t.match(JSON.parse(text).ignition.config.replace, {
    source: URL,
    verification: { hash: `sha512-${createHash('sha512').update(config).digest('hex')}` },
  });
  t.equal((await stat(path)).mode & 0o777, 0o600);
});

t.test('what a host could not fetch is refused, with nothing written', async (t) => {
  const cases: [string, string, readonly Edit[], RegExp][] = [
    ['without TLS', 'http://a.test/b', [], /--pointer-url is not valid.*requires TLS/s],
    [
      'before its network',
      URL,
      [
        [
          'bootstrapInPlace:',
          'bootstrapInPlace:\n  networkConfig: {interfaces: [{name: eno1, type: ethernet, state: up}]}',
        ],
      ],
      /--pointer-url: not with networkConfig.*aio\.ign is then the user data/s,
    ],
  ];
  for (const [name, url, edits, says] of cases) {
    const { dir, ended } = create(t, url, edits);
    t.match(await ended, { code: 2, err: says }, name);
    await t.rejects(stat(join(dir, 'aio.ign')), { code: 'ENOENT' }, name);
  }
});

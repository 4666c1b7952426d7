import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Entrance, timestamp } from '../../../agents/gather/entrance/command-line.ts';
import { parseSince } from '../../../agents/gather/entrance/since.ts';
import { gatherHere } from './in-process.ts';
import { groupsOf } from './synthetic.ts';
import { GatherTester } from './tester.ts';

const sources = [
  { path: 'a.txt', does: 'text', text: 'a\n', group: 'one' },
  { path: 'b.txt', does: 'text', text: 'b\n', group: 'two' },
] as const;

const entrances: Entrance[] = ['gather', 'installer-gather.sh'];

/** Contents of a folder by path. */
const everything = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();

t.test('all errors are reported together with exit code 2, and nothing is written', async (t) => {
  const long = 'x'.repeat(65);
  const tester = new GatherTester(t);
  symlinkSync('/etc/hosts', join(tester.home, 'file'));
  const table: [args: string[], message: RegExp, env?: Record<string, string>][] = [
    ...['', '.', '..', '.hidden', 'a/b', '../../etc/x', 'a b', 'a\nb', '$(id)', 'ü', long].map(
      (id): [string[], RegExp] => [['--id', id], /--id: expected up to 64 of A-Z/],
    ),
    ...['', 'tomorrow', '2h3m', '-2h', '@', '2999-01-01', '2026-13-01', '1e9', '@99999999999'].map(
      (since): [string[], RegExp] => [[`--since=${since}`], /--since: expected a time in the past/],
    ),
    ...['0', '-1', 'many', '', '1e3', 'Infinity', '99999999'].map((limit): [string[], RegExp] => [
      [`--limit=${limit}`],
      /--limit: expected MiB/,
    ]),
    [['--only', 'three'], /--only: expected groups of one, two, found "three"/],
    [['--only', 'one,'], /--only: .* found ""/],
    [['--only', ''], /--only: /],
    [['--to', ''], /--to: expected a path/],
    [['--to', 'a\nb'], /--to: expected a path/],
    [
      ['--to', '/nowhere/x.tar.gz'],
      /nowhere \(--to\) cannot be used for a log bundle; expected a folder; found nothing/,
    ],
    [['--to', join(tester.home, 'file/')], /home\/file \(--to\) cannot be used/],
    [['--to', '/dev/null'], /\/dev\/null cannot be replaced by a log bundle; .*a special file/],
    [[], /nowhere \(TAR_FILE\) cannot be used/, { TAR_FILE: '/nowhere/x.tar.gz' }],
    [[], /home cannot be replaced by a log bundle; .*found a folder/, { TAR_FILE: tester.home }],
    [[], /nowhere \(the home folder\) cannot be used/, { HOME: '/nowhere' }],
    [['mast er'], /MASTER: expected a host name or an address, found "mast er"/],
    [['$(reboot)', '-x'], /unknown option '-x'/],
    [['--sideways'], /unknown option '--sideways'/],
    [['--id'], /argument missing/],
    [
      ['--id', '.x', '--limit', '0', '--only', 'q'],
      /--id: .*--only: .*--limit: .*See (gather|installer-gather.sh) --help/s,
    ],
  ];
  const before = everything(tester.root);
  for (const [args, message, env] of table) {
    for (const entrance of entrances) {
      const environment = { HOME: tester.home, ...env };
      const { code, stdout, stderr } = await gatherHere(tester, [entrance, ...args], sources, {
        environment,
      });
      const found = { code, stdout: stdout.toString(), stderr };
      t.match(found, { code: 2, stdout: '', stderr: message }, [entrance, ...args].join(' '));
    }
  }
  t.strictSame(everything(tester.root), before, 'nothing is written');
});

t.test('options that only print', async (t) => {
  const tester = new GatherTester(t);
  const before = everything(tester.root);
  t.match(await gatherHere(tester, ['gather', 'plan', 'more'], sources), {
    code: 2,
    stderr: /plan: expected nothing after it, found "more"/,
  });
  const help = await gatherHere(tester, ['gather', '--help'], sources);
  t.match(
    { ...help, stdout: help.stdout.toString() },
    { code: 0, stdout: /Usage: gather .*--only <GROUPS>.*one, two/s },
  );
  const plan = await gatherHere(tester, ['gather', 'plan'], sources);
  t.match(plan.stdout.toString(), /^one +listed within 5 s\ntwo /);
  const list = await gatherHere(tester, ['gather', '--list', '--only', 'two'], sources);
  t.equal(list.stdout.toString(), 'two\n  b.txt (diagnosis, 20 s)\n');
  t.strictSame(everything(tester.root), before);
});

t.test('a group with two places in the order of collection is one group', async (t) => {
  const tester = new GatherTester(t);
  const catalogue = [
    ...groupsOf([{ path: 'new.log', does: 'text', group: 'journals' }]),
    ...groupsOf([{ path: 'b.txt', does: 'text', group: 'two' }]),
    ...groupsOf([{ path: 'old.log', does: 'text', group: 'journals' }]),
  ];
  const said = async (...args: string[]) =>
    (await gatherHere(tester, ['gather', ...args], [], { catalogue })).stdout.toString();
  t.match(await said('--help'), /commas:\s+journals,\s+two\n/);
  t.strictSame((await said('plan')).match(/^\w+/gm), ['journals', 'two']);
  t.equal(
    await said('--list', '--only', 'journals'),
    'journals\n  new.log (diagnosis, 20 s)\n  old.log (diagnosis, 20 s)\n',
  );
});

t.test('moments', async (t) => {
  const now = Date.parse('2026-05-01T12:00:00Z');
  const table: [string, string][] = [
    ['2h', '2026-05-01T10:00:00.000Z'],
    ['30m', '2026-05-01T11:30:00.000Z'],
    ['90s', '2026-05-01T11:58:30.000Z'],
    ['1d', '2026-04-30T12:00:00.000Z'],
    ['@1767225600', '2026-01-01T00:00:00.000Z'],
    ['2026-04-01', '2026-04-01T00:00:00.000Z'],
    ['2026-04-01T08:30', '2026-04-01T08:30:00.000Z'],
    ['2026-04-01 08:30:15.5', '2026-04-01T08:30:15.500Z'],
    ['2026-04-01T08:30:00+02:00', '2026-04-01T06:30:00.000Z'],
    ['2026-04-01T08:30:00z', '2026-04-01T08:30:00.000Z'],
  ];
  for (const [text, iso] of table) {
    t.equal(new Date(parseSince(text, now) ?? Number.NaN).toISOString(), iso, text);
  }
  for (const text of ['2026-05-01T12:00:01Z', '999999999d', '2', 'h', '2026-02-30T25:00', '']) {
    t.equal(parseSince(text, now), undefined, text);
  }
  t.equal(timestamp(new Date(now)), '20260501120000');
});

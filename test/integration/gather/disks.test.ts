import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed, unpacked } from '../../unit/gather/tester.ts';

const archiveOf = ({ home }: GatherTester, id = 'x') => join(home, `log-bundle-${id}.tar.gz`);
const isRoot = process.getuid?.() === 0;
const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0;

// Starts many processes and writes megabytes, possibly on a busy machine.

t.test('full disks', { skip: canMount ? false : 'needs the right to mount' }, async (t) => {
  const sources: Synthetic[] = [
    { path: 'a.txt', does: 'text', text: 'a\n' },
    { path: 'large.log', does: 'lines', bytes: 3_000_000, phase: 'bulk' },
  ];
  const small =
    (...folders: string[]) =>
    (root: string) => {
      for (const folder of folders) {
        const path = join(root, folder);
        mkdirSync(path, { recursive: true });
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'gather-test', path]);
        writeFileSync(join(path, 'full'), Buffer.alloc(250_000));
        t.teardown(() => execFileSync('umount', ['-l', path]));
      }
    };
  const elsewhere = new GatherTester(t);
  small('home', 'var/tmp')(elsewhere.root);
  const moved = await elsewhere.run(['--id', 'x'], sources);
  const refuge = join(elsewhere.root, 'run/sno-agents/log-bundle-x.tar.gz');
  t.equal(moved.code, 0, moved.stderr);
  t.match(
    moved.stdout.toString(),
    /home has less than 64 MiB free: the log bundle is not in the requested place\nLog bundle written to .*\n$/,
  );
  t.ok(moved.stdout.toString().endsWith(`Log bundle written to ${refuge}\n`));
  t.ok(listed(refuge).includes('log-bundle-x/large.log'));

  const nowhere = new GatherTester(t);
  small('home', 'var/tmp', 'run', 'dev/shm')(nowhere.root);
  const refused = await nowhere.run(['--id', 'x'], sources);
  t.match(refused, {
    code: 1,
    stderr: /not enough space for a log bundle in .*expected at least 64 MiB free.*gather --to - /,
  });
  const streamed = await nowhere.run(['--id', 'x', '--to', '-'], sources);
  t.equal(streamed.code, 0, streamed.stderr);
  t.match(streamed.stderr, /^Collected in memory: none of .*dev\/shm has 64 MiB free/m);
  const path = join(elsewhere.root, 'streamed');
  writeFileSync(path, streamed.stdout);
  t.equal(unpacked(path, 'log-bundle-x/large.log').length, 3_000_000);

  const filling = new GatherTester(t, { gatherMinFreeMiB: 1, gatherDiskSharePercent: 900 });
  const home = filling.home;
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'gather-test', home]);
  t.teardown(() => execFileSync('umount', ['-l', home]));
  const full = await filling.run(
    ['--id', 'x'],
    [
      { path: 'a.txt', does: 'text', text: 'a\n' },
      { path: 'one.log', does: 'lines', bytes: 1_500_000, phase: 'bulk' },
      { path: 'two.log', does: 'lines', bytes: 20_000_000, phase: 'bulk' },
      { path: 'three.log', does: 'lines', bytes: 30_000, phase: 'bulk' },
    ],
  );
  t.equal(full.code, 0, full.stderr);
  const names = listed(archiveOf(filling));
  t.ok(
    names.includes('log-bundle-x/one.log') && names.includes('log-bundle-x/gather.log'),
    'whole, and with its log',
  );
  t.match(unpacked(archiveOf(filling), 'log-bundle-x/gather.log'), /two.log: left out: ENOSPC/);
});

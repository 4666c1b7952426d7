import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { endless } from '../../unit/gather/endless.ts';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed, unpacked } from '../../unit/gather/tester.ts';

const archiveOf = ({ home }: GatherTester, id = 'x') => join(home, `log-bundle-${id}.tar.gz`);

// Starts many processes and writes megabytes, possibly on a busy machine.

t.test('called by a user: root gathers, the user writes', async (t) => {
  const tester = new GatherTester(t);
  const bin = join(tester.root, 'bin');
  mkdirSync(bin);
  const sudo = (script: string) =>
    writeFileSync(join(bin, 'sudo'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const log = join(tester.root, 'asked');
  sudo(
    `printf "%s " "$@" >> ${log}; [ "$1 $2" = '-n --' ] || exit 9; shift 2; AS_ROOT=yes exec "$@"`,
  );
  const env = { AS_ROOT: 'no', PATH: `${bin}:${process.env.PATH}` };
  const sources: Synthetic[] = [
    { path: 'a/b.txt', does: 'text', text: 'b\n' },
    { path: 'large.log', does: 'lines', bytes: 1_000_000, phase: 'bulk' },
  ];
  const file = await tester.run(
    ['installer-gather.sh', '--id', 'x', '--since', '@1700000000', '--limit', '12.5', 'localhost'],
    sources,
    env,
  );
  t.equal(file.code, 0, file.stderr);
  t.equal(file.stdout.toString(), `Log bundle written to ${archiveOf(tester)}\n`);
  t.ok(listed(archiveOf(tester)).includes('log-bundle-x/large.log'));
  t.match(
    readFileSync(log, 'utf8'),
    /installer-gather.sh --id x --since @1700000000 --limit 12.500 --to - --stop-with-input -- localhost $/,
  );
  const stream = await tester.run(['--id', 'x', '--to', '-'], sources, env);
  writeFileSync(join(tester.root, 'streamed'), stream.stdout);
  t.ok(listed(join(tester.root, 'streamed')).includes('log-bundle-x/a/b.txt'));
  const folder = await tester.run(['installer-masters-gather.sh', '--id', 'x'], sources, env);
  t.equal(folder.stdout.toString(), `Log bundle written to ${tester.root}/tmp/artifacts-x\n`);
  t.equal(readFileSync(join(tester.root, 'tmp/artifacts-x/a/b.txt'), 'utf8'), 'b\n');
  t.equal(
    (await tester.run(['--list'], sources, env)).stdout.toString(),
    'other\n  a/b.txt (diagnosis, 20 s)\n  large.log (bulk, 20 s)\n',
  );

  const interrupted = tester.start(['--id', 'stopped'], endless, env);
  await interrupted.said('Collecting everything else');
  interrupted.child.kill('SIGTERM');
  t.match(await interrupted.ended, { code: 0 });
  t.match(
    unpacked(archiveOf(tester, 'stopped'), 'log-bundle-stopped/gather.log'),
    'Ended early: interrupted by its caller',
  );

  for (const [script, message] of [
    [
      'echo "sudo: a password is required" >&2; exit 1',
      /a password is required\n.*gather as root failed; found exit code 1/,
    ],
    ['shift 2; exec "$@"', /sudo did not run this as root\n.*gather as root failed/s],
  ] as const) {
    sudo(script);
    const refused = await tester.run(['--id', 'refused'], sources, env);
    t.match(refused, { code: 1, stderr: message });
  }
  const none = await tester.run(['--id', 'refused'], sources, { ...env, PATH: '/nowhere' });
  t.match(none, { code: 1, stderr: /sudo not found. Run it as root/ });
  const list = await tester.run(['--list'], sources, { ...env, PATH: '/nowhere' });
  t.match(list, { code: 1, stderr: /sudo not found. Run it as root/ });
  t.strictSame(readdirSync(tester.home).toSorted(), [
    'log-bundle-stopped.tar.gz',
    'log-bundle-x.tar.gz',
  ]);
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { endless } from '../../unit/gather/endless.ts';
import { GatherTester, listed, unpacked } from '../../unit/gather/tester.ts';

const archiveOf = ({ home }: GatherTester, id = 'x') => join(home, `log-bundle-${id}.tar.gz`);
const workOf = ({ root }: GatherTester) => readdirSync(join(root, 'var/tmp'));

// Starts many processes and writes megabytes, possibly on a busy machine.

t.test('interrupted: the bundle is closed within five seconds and says so', async (t) => {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const tester = new GatherTester(t);
    const running = tester.start(['--id', 'x'], endless);
    await running.said('Collecting everything else');
    await sleep(200);
    const told = performance.now();
    running.child.kill(name);
    const { code, stdout } = await running.ended;
    t.ok(performance.now() - told < 5000, name);
    t.equal(code, 0);
    t.match(stdout.toString(), `Ended early: interrupted by ${name}\nLog bundle written to`);
    const archive = archiveOf(tester);
    t.ok(listed(archive).includes('log-bundle-x/drips.log'), 'what had begun is included');
    t.match(unpacked(archive, 'log-bundle-x/gather.log'), `Ended early: interrupted by ${name}`);
    t.match(unpacked(archive, 'log-bundle-x/gather.log'), /never.log: not started: interrupted/);
    t.strictSame(workOf(tester), []);
    t.strictSame(readdirSync(tester.home), ['log-bundle-x.tar.gz']);
  }
});

t.test(
  'a second signal ends it immediately; a killed one leaves a readable part, and its folder to the next',
  async (t) => {
    const tester = new GatherTester(t);
    const running = tester.start(
      ['--id', 'x'],
      [...endless.slice(0, 2), { path: 'drips.log', does: 'drips', phase: 'bulk' }],
    );
    await running.said('Collecting everything else');
    // Until the complete file has been written.
    const partial = () => readdirSync(tester.home).find((name) => name.endsWith('.partial')) ?? '';
    while (statSync(join(tester.home, partial())).size < 100_000) await sleep(20);
    running.child.kill('SIGKILL');
    await running.ended;
    t.equal(workOf(tester).length, 1);
    const { stdout } = spawnSync('tar', ['tzf', join(tester.home, partial())], {
      encoding: 'utf8',
    });
    t.match(stdout, 'log-bundle-x/small.txt\n');
    mkdirSync(join(tester.root, 'var/tmp/sno-gather-of-others'));
    const alive = tester.start(['--id', 'alive'], endless);
    await alive.said('Collecting everything else');
    const [living = ''] = workOf(tester).filter((name) => name.includes(`-${alive.child.pid}-`));
    t.equal((await tester.run(['--id', 'next'], [])).code, 0);
    t.strictSame(
      workOf(tester).toSorted(),
      [living, 'sno-gather-of-others'].toSorted(),
      'the dead one is removed',
    );
    alive.child.kill('SIGTERM');
    alive.child.kill('SIGTERM');
    t.match(await alive.ended, { code: /^[01]$/ });
  },
);

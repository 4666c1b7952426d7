import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed } from '../../unit/gather/tester.ts';

const archiveOf = ({ home }: GatherTester, id = 'x') => join(home, `log-bundle-${id}.tar.gz`);
const workOf = ({ root }: GatherTester) => readdirSync(join(root, 'var/tmp'));

// Starts many processes and writes megabytes, possibly on a busy machine.

t.test('two concurrent runs make a bundle each, even with the same id', async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [{ path: 'a.log', does: 'lines', bytes: 2_000_000, phase: 'bulk' }];
  const runs = ['one', 'two', 'same', 'same'].map((id) => tester.run(['--id', id], sources));
  for (const { code, stderr } of await Promise.all(runs)) t.equal(code, 0, stderr);
  t.strictSame(
    readdirSync(tester.home).toSorted(),
    ['one', 'same', 'two'].map((id) => `log-bundle-${id}.tar.gz`),
  );
  for (const id of ['one', 'same', 'two']) t.equal(listed(archiveOf(tester, id)).length, 6);
  t.strictSame(workOf(tester), []);
});

t.test('it ends silently when its reader does', async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [{ path: 'a.log', does: 'lines', bytes: 50_000_000, phase: 'bulk' }];
  const running = tester.start(['--id', 'x', '--to', '-'], sources);
  await once(running.child, 'spawn');
  running.child.stdout?.destroy();
  const { code, stderr } = await running.ended;
  t.equal(code, 1);
  t.notMatch(stderr, /EPIPE|Error|failed/);
  t.strictSame(workOf(tester), []);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { identifyProcess, isAlive } from '../../../lib/host/process.ts';

/** proc_pid_stat(5): the start time is field 22 of 52. */
const startOf = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .trim()
    .split(' ')
    .at(22 - 53);

/** Starts a program that runs until the test ends. */
function running(t: Test, program: string, ...args: string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  if (child.pid === undefined) throw new Error(`${program} was not started`);
  return { child, pid: child.pid };
}

t.test('a process is identified by its id and start time', async (t) => {
  // A name that looks like further fields.
  const program = join(t.testdir(), 'a) Z 1 (b');
  symlinkSync('/bin/sleep', program);
  const { child, pid } = running(t, program, '100');
  await once(child, 'spawn');
  const identity = { pid, startTicks: startOf(pid) ?? 'none' };
  t.same(await identifyProcess(pid), identity);
  t.equal(await isAlive(identity), true);
  t.equal(await isAlive({ ...identity, startTicks: '1' }), false, 'an id that was given again');
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(await identifyProcess(pid), undefined);
  t.equal(await isAlive(identity), false);
});

t.test('a zombie process does not count as alive', async (t) => {
  // It ends when its parent no longer is the shell, which would reap it.
  const script = 'read -r _ <&3 & echo $!; exec /bin/sleep 100';
  const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
  t.teardown(() => parent.kill('SIGKILL'));
  const [line] = await once(parent.stdout ?? parent, 'data');
  const pid = Number(String(line));
  while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n') {
    await new Promise((resolve) => setImmediate(resolve));
  }
  parent.stdio[3]?.destroy();
  while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(await identifyProcess(pid), undefined);
});

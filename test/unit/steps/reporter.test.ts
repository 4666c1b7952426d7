import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../lib/errors/failure.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { Reporter, statusPath } from '../../../lib/steps/reporter.ts';

const MINUTE_US = 60_000_000;

/** A reporter whose systemd is a program that writes down what it is told, and the status at that time. */
function reporting(t: Test) {
  const folder = t.testdir({ bin: {}, root: {} });
  const calls = join(folder, 'calls');
  const paths = hostPaths(join(folder, 'root'));
  const status = statusPath(paths, 'agent');
  const program = join(folder, 'bin/systemd-notify');
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s' "$*" >> ${calls}\ngrep -oE 'running|failed|stopped' ${status} | tr '\\n' ' ' >> ${calls}\necho >> ${calls}\n`,
  );
  chmodSync(program, 0o755);
  const before = { ...process.env };
  process.env.PATH = `${join(folder, 'bin')}:${before.PATH}`;
  process.env.NOTIFY_SOCKET = '/nowhere';
  delete process.env.WATCHDOG_USEC;
  t.teardown(() => {
    process.env = before;
  });
  const told = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []);
  const extensions = () =>
    told()
      .flatMap((call) => /EXTEND_TIMEOUT_USEC=(\d+)/.exec(call)?.[1] ?? [])
      .map(Number);
  const until = async (count: number) => {
    while (extensions().length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const state = () => JSON.parse(readFileSync(status, 'utf8'));
  const plan = { agent: 'agent', unit: 'agent.service' };
  return { reporter: () => new Reporter(plan, paths), told, extensions, until, state, status };
}

t.test('systemd gets time for looking at a step, and again for each attempt', async (t) => {
  const { reporter, extensions, until, state } = reporting(t);
  const agent = reporter();
  await agent.agentBegins();
  agent.stepBegins('first', 1, 2, 10 * 60_000);
  await until(1);
  t.strictSame(extensions(), [11.5 * MINUTE_US], 'its deadline and the margin of a start');
  await agent.attemptBegins('first', 1, 8 * 60_000);
  await agent.attemptBegins('first', 2, 5 * 60_000);
  t.strictSame(extensions(), [11.5 * MINUTE_US, 9.5 * MINUTE_US, 6.5 * MINUTE_US]);
  await agent.agentEnds('done', 0);
  t.match(state(), { state: 'done', exitCode: 0, step: { name: 'first', attempt: 2 } });
});

t.test('the status that is read after READY is that of this run', async (t) => {
  const { reporter, told, status } = reporting(t);
  mkdirSync(join(status, '..'), { recursive: true });
  writeFileSync(status, '{"state":"failed"}');
  const agent = reporter();
  await agent.agentBegins();
  const ready = told().find((call) => call.startsWith('--ready'));
  t.match(ready, /running/);
  t.notMatch(ready, /failed/);
  await agent.agentEnds('stopped', 0, 'told to stop');
});

t.test('a wait is news once, and is told with its step', async (t) => {
  const { reporter, told, state } = reporting(t);
  const agent = reporter();
  await agent.agentBegins();
  t.equal(agent.waiting('too early'), false, 'no step has begun');
  agent.stepBegins('first', 1, 2, 60_000);
  t.equal(agent.waiting('the API'), true);
  t.equal(agent.waiting('the API'), false);
  t.equal(agent.waiting(undefined), false);
  t.equal(agent.waiting('the API'), false, 'the same wait again');
  t.equal(agent.waiting('etcd'), true);
  agent.stepBegins('second', 2, 2, 60_000);
  t.equal(agent.waiting('etcd'), true, 'news in another step');
  const failure = new Failure('fatal', 'the disk is full', { expected: '1 GB', found: '2 MB' });
  await agent.agentEnds('failed', 1, failure);
  t.match(state(), {
    state: 'failed',
    exitCode: 1,
    reason: 'the disk is full; expected 1 GB; found 2 MB',
    failure: { what: 'the disk is full', found: '2 MB' },
  });
  // Messages to systemd may overtake one another.
  t.match(told().join('\n'), /--status=failed: the disk is full/);
});

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { productVersion } from '../../../../lib/base/version.ts';
import { Reporter, statusPath } from '../../../../lib/engine/steps/reporter.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { waitForFiles } from '../../../../lib/host/watch.ts';
import { setEnvironment } from './environment.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2030-01-01T12:00:00Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();

/**
 * A reporter with a stopped clock and a program in place of systemd that records its messages and,
 * with READY, the contents of the status file at that time.
 */
function reporting(t: Test) {
  const folder = t.testdir({ bin: {}, root: {} });
  const calls = join(folder, 'calls');
  const paths = hostPaths(join(folder, 'root'));
  const status = statusPath(paths, 'agent');
  const program = join(folder, 'bin/systemd-notify');
  writeFileSync(
    program,
    `#!/bin/sh
[ "$1" = --ready ] && state=" $(grep -oE '"(running|failed)"' ${status})"
printf '%s\\n' "$*$state" >> ${calls}
`,
  );
  chmodSync(program, 0o755);
  setEnvironment(t, {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    NOTIFY_SOCKET: '/nowhere',
    WATCHDOG_USEC: undefined,
  });
  t.capture(Date, 'now', () => NOW);
  const told = () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []);
  /** The deadline extensions so far, in minutes, once there are that many. */
  const extensions = async (count: number) => {
    const found = () => told().flatMap((call) => /EXTEND_TIMEOUT_USEC=(\d+)/.exec(call)?.[1] ?? []);
    await waitForFiles([calls], async () => found().length >= count, {
      signal: AbortSignal.timeout(120_000),
      deadlineMs: 60_000,
      describe: () => `${count} extensions`,
    });
    return found().map((us) => Number(us) / 1000 / MINUTE);
  };
  const state = () => JSON.parse(readFileSync(status, 'utf8'));
  const record = (): Record<string, string>[] =>
    JSON.parse(readFileSync(`${paths.serviceRecords}/agent-unit.json`, 'utf8'));
  const stages = () =>
    record().map(({ phase, stage, result }) => [phase, stage, result].filter(Boolean).join(' '));
  const agent = new Reporter({ agent: 'agent', unit: 'agent-unit' }, paths);
  return { agent, paths, told, extensions, state, status, record, stages };
}

t.test(
  'the start timeout is extended for checking a step, and again for each attempt',
  async (t) => {
    const { agent, extensions, state, stages } = reporting(t);
    t.equal(agent.step, undefined);
    await agent.agentBegins();
    agent.stepBegins('first', 1, 2, 10 * MINUTE);
    t.same(await extensions(1), [11.5], 'its deadline and the margin of a start');
    await agent.attemptBegins('first', 1, 8 * MINUTE);
    await agent.attemptBegins('first', 2, 5 * MINUTE);
    t.same(await extensions(3), [11.5, 9.5, 6.5]);
    t.equal(agent.step, 'first');
    await agent.agentEnds('done', 0);
    t.match(state(), {
      state: 'done',
      exitCode: 0,
      step: { name: 'first', attempt: 2, until: at(5 * MINUTE) },
    });
    t.same(stages().slice(0, 2), ['service start', 'stage start first'], 'a stage begins once');
  },
);

t.test('how long it takes, also before a restart, and whoever else sees the state', async (t) => {
  const { paths } = reporting(t);
  const states: (string | undefined)[] = [];
  const pace = { beforeSeconds: 100, usualSeconds: 71 };
  const seen = (status: AgentStatus) =>
    states.push(`${status.state} ${status.pace?.elapsedSeconds}`);
  const agent = new Reporter({ agent: 'agent', unit: 'agent-unit' }, paths, { pace, seen });
  await agent.agentBegins();
  await agent.agentEnds('done', 0);
  t.match(states, ['running 100', /^done 10\d$/]);
});

t.test('the status shows the state of the agent', async (t) => {
  const { agent, state } = reporting(t);
  await agent.agentBegins();
  const common = {
    schemaVersion: 1,
    version: productVersion,
    agent: 'agent',
    unit: 'agent-unit',
    updated: String,
  };
  t.match(state(), { ...common, state: 'running' });
  t.notOk('step' in state());
  agent.stepBegins('first', 1, 2, MINUTE);
  agent.waiting('etcd');
  await agent.agentEnds('reboot', 0, 'a kernel');
  const { updated, step, ...rest } = state();
  t.strictSame(rest, {
    schemaVersion: 1,
    version: productVersion,
    agent: 'agent',
    unit: 'agent-unit',
    state: 'reboot',
    exitCode: 0,
    reason: 'a kernel',
  });
  t.match(updated, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.match(step.since, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.match(step, { name: 'first', number: 1, of: 2, attempt: 0, until: at(MINUTE) });
  t.equal(step.waitingFor, 'etcd');
});

t.test('the status read after READY is that of this run', async (t) => {
  const { agent, told, status } = reporting(t);
  mkdirSync(join(status, '..'), { recursive: true });
  writeFileSync(status, '{"state":"failed"}');
  await agent.agentBegins();
  t.same(told(), ['--ready "running"']);
  await agent.agentEnds('stopped', 0, 'told to stop');
  t.equal(told().at(-1), '--status=stopped: told to stop', 'sent before it ends');
});

t.test('no status is sent for a unit after it has removed itself', async (t) => {
  const { agent, told } = reporting(t);
  await agent.agentBegins();
  await agent.agentEnds('done', 0);
  t.same(told(), ['--ready "running"']);
});

t.test('a wait is reported once, with its step', async (t) => {
  const { agent, told, state, record } = reporting(t);
  await agent.agentBegins();
  t.equal(agent.waiting('too early'), false, 'no step has begun');
  agent.stepBegins('first', 1, 2, MINUTE);
  t.equal(agent.waiting('the API'), true);
  t.equal(agent.waiting('the API'), false);
  t.equal(agent.waiting(undefined), false);
  t.equal(agent.waiting('the API'), false, 'the same wait again');
  t.equal(agent.waiting('etcd'), true);
  agent.stepBegins('second', 2, 2, MINUTE);
  t.equal(agent.waiting('etcd'), true, 'news in another step');
  t.equal(agent.waiting(undefined), false);
  await agent.attemptBegins('second', 1, -5);
  const failure = new Failure('fatal', 'the disk is full', { expected: '1 GB', found: '2 MB' });
  await agent.agentEnds('failed', 1, failure);
  const reason = 'the disk is full; expected 1 GB; found 2 MB';
  const data = { code: 'refused', kind: 'fatal', what: 'the disk is full' };
  t.match(state(), { state: 'failed', exitCode: 1, reason, failure: data });
  t.match(state().step, { name: 'second', attempt: 1, until: at(0) });
  t.notOk('waitingFor' in state().step);
  // Messages to systemd may arrive out of order.
  t.match(`${told().join('\n')}\n`, `--status=failed: ${reason}\n`);
  t.match(
    record().slice(-2),
    [
      { phase: 'stage end', stage: 'second', result: 'failure', errorMessage: reason },
      { phase: 'service end', result: 'failure', errorMessage: reason },
    ],
    'a stage that was begun is ended',
  );
});

t.test('the stages of a record come in pairs', async (t) => {
  const { agent, stages, record } = reporting(t);
  await agent.agentBegins();
  for (const [name, failure] of [
    ['first', undefined],
    ['second', new Failure('retry', 'busy')],
  ] as const) {
    agent.stepBegins(name, 1, 3, MINUTE);
    await agent.attemptBegins(name, 1, MINUTE);
    await agent.stepEnds(name, failure);
  }
  agent.stepBegins('third', 3, 3, MINUTE);
  await agent.attemptBegins('third', 1, MINUTE);
  await agent.agentEnds('stopped', 1, 'told to stop');
  t.same(stages(), [
    'service start',
    'stage start first',
    'stage end first success',
    'stage start second',
    'stage end second failure',
    'stage start third',
    'stage end third failure',
    'service end failure',
  ]);
  t.match(record().at(-1), { errorMessage: 'told to stop' });
});

t.test('an agent that ends with a reboot has not failed', async (t) => {
  const { agent, record, stages } = reporting(t);
  await agent.agentBegins();
  agent.stepBegins('first', 1, 1, MINUTE);
  await agent.attemptBegins('first', 1, MINUTE);
  await agent.stepEnds('first');
  await agent.agentEnds('reboot', 0, 'a kernel');
  t.equal(stages().length, 4, 'a stage that has ended is not ended again');
  t.match(record().at(-1), { phase: 'service end', result: 'success' });
});

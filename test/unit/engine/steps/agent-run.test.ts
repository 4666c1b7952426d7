import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { type Agent, runAgentCommand } from '../../../../lib/engine/steps/agent-command.ts';
import { isLocked, lockAgent } from '../../../../lib/engine/steps/lock.ts';
import { statusPath } from '../../../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../../../lib/engine/steps/status.ts';
import { done, notYet, reboot, type Step } from '../../../../lib/engine/steps/step.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';

/** A one-step agent in this process; `events` are those sent to journald. */
function agentOf(t: Test, run: Step<string>['run'], more: Partial<Agent<string>> = {}) {
  const paths = hostPaths(t.testdir());
  const step: Step<string> = {
    name: 'only',
    leaves: 'nothing',
    touches: [],
    deadlineMs: 60_000,
    input: (context) => context,
    holds: async (context) => context === 'context',
    run,
  };
  const plan = { agent: 'in-process', unit: 'in-process-unit', purpose: 'tests', steps: [step] };
  const agent: Agent<string> = { plan, paths, context: async () => 'context', ...more };
  const events: Record<string, string>[] = [];
  const send = async (entry: string) => {
    const fields = entry
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/).slice(0, 2));
    events.push(Object.fromEntries(fields));
    return true;
  };
  const listeners = () => ['SIGTERM', 'SIGINT'].map((name) => process.listenerCount(name));
  const start = async (...args: string[]) => {
    const before = listeners();
    const code = await runAgentCommand(agent, ['run', ...args], {
      write: () => undefined,
      isJournal: true,
      journald: { send },
    });
    t.same(listeners(), before, 'it listens to signals no more');
    t.equal(await isLocked('in-process', paths.root), false);
    return code;
  };
  /** Runs another command; returns its output and errors. */
  const ask = async (...args: string[]) => {
    const printed: string[] = [];
    t.capture(process.stderr, 'write', (text: string) => printed.push(text) > 0);
    const code = await runAgentCommand(agent, args, { write: (text) => printed.push(text) });
    return { code, printed: printed.join('') };
  };
  return { agent, events, start, ask };
}

t.test('an agent reports its start and its end', async (t) => {
  const { start, events } = agentOf(t, async () => done());
  t.equal(await start(), 0);
  t.match(events, [
    { EVENT: 'agent-started', MESSAGE: /^in-process-unit: started\b/, STEPS: '1' },
    { EVENT: 'step-started' },
    { EVENT: 'step-done' },
    { EVENT: 'agent-done', MESSAGE: 'in-process-unit: everything is done' },
  ]);
  t.equal(events.length, 4);
});

t.test('the result of a plan is reported in its own words', async (t) => {
  const { start, events, agent } = agentOf(t, async () => done());
  Object.assign(agent.plan, { achieved: 'the bootstrap is complete' });
  await start();
  t.match(events.at(-1), { MESSAGE: 'in-process-unit: the bootstrap is complete' });
});

t.test('the exit code says what happens next, the status and the event say why', async (t) => {
  const failing = (thrown: unknown) => async () => Promise.reject(thrown);
  const secret = new Error('https://u:hunter2@moon/');
  const shown = 'https://u:<redacted>@moon/';
  const noContext = async () => Promise.reject(new Failure('usage', 'cluster.json: bad'));
  const fallen = new Failure('fatal', 'the moon fell', { fix: 'Buy another one.' });
  const table: {
    run?: Step<string>['run'];
    more?: Partial<Agent<string>>;
    args?: string[];
    code: number;
    failure: object;
    reason: string | RegExp;
  }[] = [
    {
      run: async () => notYet('the moon is not up'),
      code: 1,
      reason: 'only: the moon is not up',
      failure: { code: 'unavailable', kind: 'retry', what: 'only: the moon is not up' },
    },
    {
      run: failing(new TypeError('x is not a function', { cause: secret })),
      code: 4,
      reason:
        /^only: internal error: x is not a function: https:\/\/u:<redacted>@moon\/\. This is a bug/,
      failure: {
        code: 'bug',
        kind: 'bug',
        fix: /report/,
        cause: { what: 'x is not a function', cause: { what: shown } },
        stack: /TypeError: x is not a function\n +at .*agent-run\.test\.ts/,
      },
    },
    {
      run: failing(new Failure('usage', 'moon.yaml: phase: unknown')),
      code: 2,
      reason: 'only: moon.yaml: phase: unknown',
      failure: { code: 'usage' },
    },
    {
      more: { context: noContext },
      code: 2,
      reason: 'cluster.json: bad',
      failure: { kind: 'usage' },
    },
    {
      args: ['--from', 'nowhere'],
      code: 2,
      reason: 'in-process has no step nowhere; expected one of only',
      failure: { kind: 'usage' },
    },
    {
      run: failing(new Failure('deadline', 'etcd did not answer')),
      code: 3,
      reason: 'only: etcd did not answer',
      failure: { kind: 'deadline' },
    },
    {
      run: failing(fallen),
      code: 4,
      reason: 'only: the moon fell. Buy another one.',
      failure: { kind: 'fatal' },
    },
  ];
  for (const { run = async () => done(), more, args = [], code, reason, failure } of table) {
    await t.test(String(reason), async (t) => {
      const { start, events, agent } = agentOf(t, run, more);
      t.equal(await start(...args), code);
      const status = await readStatus(statusPath(agent.paths, 'in-process'));
      t.match(status, { state: 'failed', exitCode: code, reason, failure });
      if (typeof reason === 'string') t.equal(status?.reason, reason);
      t.match(events.at(-1), { EVENT: 'agent-failed', EXIT: `${code}` });
      const written = [agent.paths.state, agent.paths.run, agent.paths.serviceRecords]
        .flatMap((folder) => globSync(`${folder}/**/*.json*`))
        .map((path) => readFileSync(path, 'utf8'));
      t.notMatch([...written, JSON.stringify(events)].join(), 'hunter2');
    });
  }
});

t.test('an agent that fails reports the reason, in fields too', async (t) => {
  const { start, events } = agentOf(t, async () => {
    throw new Failure('fatal', 'wrong disk', { code: 'disk-in-use', fix: 'Free it.' });
  });
  t.equal(await start(), 4);
  t.match(events.at(-1), {
    EVENT: 'agent-failed',
    MESSAGE: /^in-process-unit failed: only: wrong disk\. Free it\./,
    STEP: 'only',
    EXIT: '4',
    CODE: 'disk-in-use',
    KIND: 'fatal',
    WHAT: 'only: wrong disk',
    FIX: 'Free it.',
  });
});

t.test('a reboot is requested once everything is written', async (t) => {
  const asked: unknown[] = [];
  const { start, events, agent } = agentOf(t, async () => reboot('a kernel'), {
    reboot: async ({ aborted }) => void asked.push(aborted, events.at(-1)?.EVENT),
  });
  t.equal(await start(), 0);
  t.same(asked, [false, 'host-restart']);
  t.match(await readStatus(statusPath(agent.paths, 'in-process')), {
    ...{ state: 'reboot', exitCode: 0, reason: 'a kernel' },
  });
  t.match(events.at(-1), { MESSAGE: 'Restarting the host: a kernel' });
  const { start: without } = agentOf(t, async () => reboot('a kernel'));
  t.equal(await without(), 0, 'an agent that cannot have the host restarted');
});

t.test('an agent that is told to stop reports it, and can resume', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { start, events } = agentOf(t, async () => {
      process.emit(signal, signal);
      throw new Error('ended by its signal');
    });
    t.equal(await start(), 1);
    t.match(events.at(-1), {
      EVENT: 'agent-stopped',
      MESSAGE: 'in-process-unit: told to stop; it resumes here when it is started again',
    });
  }
  const stopped: Step<string>['run'] = async () => {
    process.emit('SIGTERM', 'SIGTERM');
    throw new Error('ended by its signal');
  };
  t.equal(await agentOf(t, stopped, { exitWhenStopped: 0 }).start(), 0, 'or that is no failure');
});

t.test(
  'the context gets the options of run and the log, and the steps get the context',
  async (t) => {
    const given: unknown[] = [];
    const run: Step<string>['run'] = async (context) => {
      given.push(context);
      return done();
    };
    const { start } = agentOf(t, run, {
      runOptions: [{ flags: '--hours <n>', description: 'how long' }],
      context: async (log, options) => {
        given.push(typeof log.info, options);
        return 'context';
      },
    });
    t.equal(await start('--hours', '5', '--from', 'only', '--until', 'only'), 0);
    t.strictSame(given, ['function', { hours: '5', from: 'only', until: 'only' }, 'context']);
  },
);

t.test('plan and status', async (t) => {
  const { agent, ask, start } = agentOf(t, async () => done('two files'));
  t.same(await ask('plan'), {
    code: 0,
    printed: 'in-process: tests\n\n 1  only      1m  nothing\n',
  });
  t.same(await ask('status'), {
    code: 0,
    printed: 'in-process: has not run since the host started\n  only  -\n',
  });
  t.same(JSON.parse((await ask('status', '--json')).printed), { status: null, journal: [] });
  await start();
  t.match(await ask('status'), {
    printed: /^in-process: done\n {2}only {2}done in .*: two files\n$/,
  });
  t.match(JSON.parse((await ask('status', '--json')).printed), {
    status: { agent: 'in-process', state: 'done' },
    journal: [{ event: 'started' }, { step: 'only', event: 'done', attempt: 1 }],
  });
  const path = statusPath(agent.paths, 'in-process');
  const killed = { ...(await readStatus(path)), state: 'running', exitCode: undefined };
  const resumes = 'it resumes there when it is started again';
  for (const [status, reason] of [
    [killed, `its process was killed in step only; ${resumes}`],
    [{ ...killed, step: undefined }, `its process was killed; ${resumes}`],
  ] as const) {
    writeFileSync(path, JSON.stringify(status));
    t.match((await ask('status')).printed, `in-process: stopped: ${reason}\n`);
  }
  writeFileSync(path, JSON.stringify(killed));
  using _lock = await lockAgent('in-process', agent.paths.root);
  t.match((await ask('status')).printed, 'in-process: running step 1 of 1, only; since ');
  const second = await ask('run');
  t.equal(second.code, 2);
  t.match(second.printed, /^in-process: in-process is already running on this host\. .*status/);
});

t.test('an invalid command line changes nothing', async (t) => {
  for (const args of [[], ['fly'], ['run', '--sideways'], ['run', 'fast'], ['status', '--xml']]) {
    const { agent, ask } = agentOf(t, async () => done());
    t.equal((await ask(...args)).code, 2, args.join(' '));
    t.notOk(existsSync(agent.paths.state));
  }
});

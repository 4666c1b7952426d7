import t, { type Test } from 'tap';
import { orUndo } from '../../../../agents/upkeep/backup/restore/or-undo.ts';
import { backupRestorePlan } from '../../../../agents/upkeep/backup/restore/plan.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { openAgentLog } from '../../../../lib/base/log/agent-log.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { Journal } from '../../../../lib/engine/steps/journal.ts';
import { Reporter } from '../../../../lib/engine/steps/reporter.ts';
import { PlanRunner } from '../../../../lib/engine/steps/runner.ts';
import { done, notYet, type Step } from '../../../../lib/engine/steps/step.ts';
import { COMPONENTS, database, podFile, REPLACED, restoringHost } from './backup-host.ts';

type RestoreStep = Parameters<typeof orUndo>[0];

/** The plan of a restore, on a host whose clock runs; `start` does what the test says. */
async function restorePlan(t: Test) {
  const { host, context } = await restoringHost(t, { settings: { retryMs: 1 } });
  const clock = { boot: 'boot-1', up: 100 };
  const run = async (body: Partial<RestoreStep>, stop = new AbortController().signal) => {
    const plan = backupRestorePlan(context.settings);
    const steps = plan.steps
      .filter(({ name }) => name !== 'steady-state')
      .map((step): Step<typeof context> => {
        if (step.name !== 'start') return step;
        const started = { name: 'start', leaves: 'an API server', touches: [], input: () => 1 };
        const holds = async () => true;
        const own = orUndo({ ...started, holds, run: async () => done(), ...body });
        return { ...own, retry: { delayMs: 1 }, deadlineMs: 60_000 };
      });
    const reporter = new Reporter(plan, host.paths);
    const runner = new PlanRunner({ ...plan, steps }, context, {
      journal: await Journal.open(host.at('/journal.jsonl')),
      ...openAgentLog('test', { write: () => {}, isJournal: false }),
      reporter,
      clock: async () => ({ ...clock, up: clock.up++ }),
      stop,
      graceMs: 1000,
    });
    try {
      return await runner.run();
    } finally {
      await reporter.agentEnds('stopped', 0);
    }
  };
  const placed = () => COMPONENTS.filter((name) => host.has(podFile(name)));
  return { host, context, run, placed };
}

/** Failures that the step itself never sees the end of, and one that it does. */
const failures: [title: string, body: Partial<RestoreStep>, reason: RegExp][] = [
  [
    'an error at once, until the deadline',
    { run: () => Promise.reject(new Error('x')) },
    /deadline of 60s exceeded.*found x/,
  ],
  ['not yet, until the deadline', { run: async () => notYet('no API') }, /deadline.*found no API/],
  ['a postcondition that is not met', { holds: async () => false }, /postcondition not met/],
  [
    'a programming error',
    { run: () => Promise.reject(new TypeError('x is no function')) },
    /x is no function/,
  ],
  [
    'a permanent failure',
    { run: () => Promise.reject(new Failure('fatal', 'broken by the test')) },
    /broken by the test/,
  ],
];
for (const [title, body, reason] of failures) {
  t.test(`a restore whose step fails is undone: ${title}`, async (t) => {
    const { host, context, run, placed } = await restorePlan(t);
    await t.rejects(run(body), { kind: 'fatal', code: 'restore-undone', message: reason });
    t.equal(database(host), 'the present database');
    t.notOk(host.has(REPLACED));
    t.strictSame(placed(), [...COMPONENTS]);
    t.equal(await restoreChange.read(context.paths), undefined);
    t.ok((await restoreChange.last(context.paths))?.failure);
  });
}

t.test('an agent that is stopped has not failed, and continues the restore', async (t) => {
  const { host, context, run, placed } = await restorePlan(t);
  const stop = new AbortController();
  const stopped = async () => {
    stop.abort(new Error('stopped by SIGTERM'));
    throw new Failure('fatal', 'the connection was closed');
  };
  await t.rejects(run({ run: stopped }, stop.signal), { message: 'stopped by SIGTERM' });
  t.equal((await restoreChange.read(context.paths))?.failure, undefined);
  t.strictSame(placed(), []);
  t.strictSame(await run({}), { kind: 'done' });
  t.equal(database(host), 'a snapshot');
  t.equal((await restoreChange.last(context.paths))?.failure, undefined);
});

t.test('after a failure, the steps before undo are skipped', async (t) => {
  const { context, run, holds } = await restoringHost(t);
  await recordFailure(
    restoreChange,
    context.paths,
    failureData(new Failure('fatal', 'broken by the test')),
  );
  const step = orUndo({
    ...{ name: 'later', leaves: 'nothing', touches: [], input: () => 1, holds: async () => false },
    run: async () => {
      t.fail('it ran');
      return done();
    },
  });
  t.equal(await holds(step), true);
  t.match(await run(step), { kind: 'done', note: /skipped/ });
});

t.test('what one restore has done counts for no other', async (t) => {
  const { context } = await restoringHost(t);
  const { steps } = backupRestorePlan(context.settings);
  for (const { name, input } of steps) t.same(input(context), context.request, name);
});

t.test('what fails for a moment does not undo a restore', async (t) => {
  const { context } = await restoringHost(t);
  const { steps } = backupRestorePlan(context.settings);
  for (const { name, retry } of steps) t.ok(retry, `${name} is tried again`);
});

/**
 * What holds for all plans. The plans themselves are on the generated page docs/reference/plans.md, which a test compares with
 * the code: who changes one, changes the page, and both are reviewed together. The reasons are in the files `plan.ts`, those
 * for the order of steps in `plan-order.test.ts`.
 */
import t from 'tap';
import { deferredPlan } from '../../../agents/deferred/plan.ts';
import { announce } from '../../../agents/steps/complete.ts';
import { PLANS } from '../../../docs/plans-reference.ts';
import { unitOf } from '../../../lib/engine/agents/table.ts';
import { distinct, settings } from './distinct-settings.ts';

const plans = PLANS.map(([heading, , planOf]) => ({ heading, ...planOf(settings) }));

/** Stands for whatever a step reads of its context: each property and each result of a call is the same again. */
const anything: object = new Proxy(() => undefined, {
  get: (_target, key) => {
    if (key === Symbol.toPrimitive) return () => 'anything';
    return key === 'then' ? undefined : anything;
  },
  apply: () => anything,
});

for (const { heading, agent, unit, steps } of plans) {
  t.test(`the plan of ${heading}`, async (t) => {
    t.equal(unit, unitOf(agent), 'as the table of agents says');
    const names = steps.map(({ name }) => name);
    t.equal(new Set(names).size, names.length, 'each step has a name of its own');
    const faults: string[] = [];
    for (const [index, { name, leaves, deadlineMs, retry, neededUntil }] of steps.entries()) {
      if (leaves === '') faults.push(`${name} does not say what it leaves`);
      if (!(deadlineMs > 0)) faults.push(`${name} has the deadline ${deadlineMs}`);
      if (retry !== undefined && retry.delayMs !== distinct('retryMs'))
        faults.push(`${name} pauses for ${retry.delayMs}, not for retryMs`);
      if (neededUntil !== undefined && names.indexOf(neededUntil) <= index)
        faults.push(`${name} is needed until ${neededUntil}, which is no later step`);
    }
    t.same(faults, []);
  });
}

t.test('every step says what its result depends on', async (t) => {
  const without: string[] = [];
  for (const { heading, steps } of plans) {
    for (const step of steps) {
      // Undefined is the same for every host and request: the step would not run again for another one.
      const input: unknown = await attempted(() => Reflect.apply(step.input, step, [anything]));
      if (input === undefined) without.push(`${heading}: ${step.name}`);
    }
  }
  t.same(without, []);
});

/** What it returns, or the error of an input that is read from a host. */
async function attempted(action: () => unknown): Promise<unknown> {
  try {
    return await action();
  } catch (error) {
    return error;
  }
}

t.test('agents that run beside the API report their progress to the cluster', async (t) => {
  const reporting = plans.filter((plan) => plan.announce !== undefined);
  t.same(
    reporting.map(({ heading }) => heading),
    ['post-reboot', 'post-reboot on OpenShift', 'aiokube'],
  );
  for (const plan of reporting) t.equal(plan.announce, announce, plan.heading);
});

t.test('the plan of sno-deferred ends with the expiry, by the wall clock', async (t) => {
  const { steps } = deferredPlan({ ...settings, deferredExpiryHours: 5 });
  t.same(
    steps.map(({ name, deadlineMs }) => [name, deadlineMs]),
    [
      ['apply', 6 * 3_600_000],
      ['retire', distinct('apiMs')],
    ],
  );
});

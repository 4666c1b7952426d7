/** Each plan beside what `expected-plans.ts` says of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { deferredPlan } from '../../../agents/deferred/plan.ts';
import { announce } from '../../../agents/steps/complete.ts';
import { root } from '../structure/source.ts';
import { distinct, plans, settings } from './expected-plans.ts';

/** Stands for whatever a step reads of its context: each property and each result of a call is the same again. */
const anything: object = new Proxy(() => undefined, {
  get: (_target, key) => {
    if (key === Symbol.toPrimitive) return () => 'anything';
    return key === 'then' ? undefined : anything;
  },
  apply: () => anything,
});

for (const [plan, unit, expected] of plans) {
  t.test(`the plan of ${plan.agent}`, async (t) => {
    t.equal(plan.unit, unit);
    t.same(
      plan.steps.map(({ name }) => name),
      Object.keys(expected),
      'its steps in order',
    );
    for (const step of plan.steps) {
      const { deadline, once, until, last } = expected[step.name] ?? { deadline: 'retryMs' };
      const deadlineMs = typeof deadline === 'number' ? deadline : distinct(deadline);
      t.equal(step.deadlineMs, deadlineMs, `${step.name}: ${deadline}`);
      const retry = once === true ? undefined : { delayMs: distinct('retryMs') };
      t.same(step.retry, retry, `${step.name}: ${once === true ? 'once' : 'tried again'}`);
      t.equal(step.neededUntil, until, `${step.name}: needed until ${until}`);
      t.equal(step.removesState, last, `${step.name}: removes state`);
      t.ok(step.leaves, `${step.name} says what it leaves`);
    }
    for (const until of plan.steps.flatMap(({ neededUntil = [] }) => neededUntil)) {
      t.ok(
        plan.steps.some(({ name }) => name === until),
        `${until} is a step`,
      );
    }
  });
}

t.test(
  'what each step touches is on the page of plans, for whoever looks for faults',
  async (t) => {
    const page = readFileSync(join(root, 'docs/reference/plans.md'), 'utf8');
    for (const [{ agent, steps }] of plans) {
      for (const { name, leaves, touches } of steps)
        t.match(page, `| ${name} | ${leaves} | ${touches.join(', ')} |`, `${agent}: ${name}`);
    }
  },
);

t.test('every step says what its result depends on, and how that is checked', async (t) => {
  for (const [{ agent, steps }] of plans) {
    for (const step of steps) {
      t.type(step.holds, 'function', `${agent}: ${step.name}`);
      t.type(step.run, 'function', `${agent}: ${step.name}`);
      // Undefined is the same for every host and request: the step would not run again for another one.
      const input: unknown = await attempted(() => Reflect.apply(step.input, step, [anything]));
      t.not(input, undefined, `${agent}: the input of ${step.name}`);
    }
  }
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
  const reporting = ['post-reboot', 'aiokube'];
  for (const [plan] of plans) {
    t.equal(plan.announce, reporting.includes(plan.agent) ? announce : undefined, plan.agent);
  }
});

t.test('the plan of sno-deferred ends with the expiry, by the wall clock', async (t) => {
  const { agent, unit, steps } = deferredPlan({ ...settings, deferredExpiryHours: 5 });
  t.same([agent, unit], ['sno-deferred', 'sno-deferred']);
  t.match(steps, [
    { name: 'apply', deadlineMs: 6 * 3_600_000, retry: { delayMs: distinct('retryMs') } },
    { name: 'retire', deadlineMs: distinct('apiMs'), removesState: true },
  ]);
  t.equal(steps.length, 2);
  t.same(steps[1]?.retry, { delayMs: distinct('retryMs') });
});

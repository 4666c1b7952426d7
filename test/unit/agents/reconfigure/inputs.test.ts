/** A new site volume runs every step again, and a host that goes on with the same one none that is done. */
import t from 'tap';
import { reconfigureOpenShiftPlan } from '../../../../agents/reconfigure/openshift/plan.ts';
import { reconfigurePlan } from '../../../../agents/reconfigure/plan.ts';
import { arrived } from './site-host.ts';

t.test('inputs', async (t) => {
  const { context } = await arrived(t);
  const other = { ...context, request: { ...context.request, id: 'another' } };
  for (const plan of [reconfigurePlan, reconfigureOpenShiftPlan]) {
    for (const { name, input } of plan(context.settings).steps) {
      const before = await input(context);
      t.ok(before, name);
      t.same(await input({ ...context }), before, `${name}: the same volume`);
      t.notSame(await input(other), before, `${name}: another one`);
    }
  }
});

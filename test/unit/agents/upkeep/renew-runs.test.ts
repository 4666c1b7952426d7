import t from 'tap';
import { renewPlan } from '../../../../agents/upkeep/renew/plan.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { renewingHost } from './renewing-host.ts';

t.test('a run that is killed takes nothing of the time of the next one', async (t) => {
  const { context } = await renewingHost(t);
  for (const { name, input } of renewPlan(defaultSettings).steps) {
    t.not(await input({ ...context, run: 'yesterday' }), await input(context), name);
  }
});

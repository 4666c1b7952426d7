import t from 'tap';
import { renewContext } from '../../../../agents/steps/certificates/context.ts';
import { renewPlan } from '../../../../agents/upkeep/renew/plan.ts';
import { renewLeaves } from '../../../../agents/upkeep/renew/renew-leaves.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { renewingHost } from './renewing-host.ts';

t.test('each run is another one: what the one before has recorded is tried again', async (t) => {
  const host = testHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const runs = [await renewContext(host.paths), await renewContext(host.paths)];
  t.equal(new Set(runs.map(({ run }) => run)).size, 2);
});

t.test('a run that is killed takes nothing of the time of the next one', async (t) => {
  const { context } = await renewingHost(t);
  for (const { name, input } of renewPlan(defaultSettings).steps) {
    t.not(await input({ ...context, run: 'yesterday' }), await input(context), name);
  }
});

t.test('who must connect again is told, if the old one ends within five minutes', async (t) => {
  for (const [minutes, isTold] of [
    [4, true],
    [6, false],
  ] as const) {
    const { age, context, host } = await renewingHost(t);
    await age('kube-scheduler', 365 - minutes / 1440);
    t.match(await renewLeaves.run(context, host.progress()), { note: '1 renewed' });
    t.equal(/open may be refused/.test(host.lines.join('')), isTold, `${minutes} minutes`);
  }
});

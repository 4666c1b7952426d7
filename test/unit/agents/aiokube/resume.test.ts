import t from 'tap';
import { aiokubePlan } from '../../../../agents/aiokube/plan.ts';
import { openAgentLog } from '../../../../lib/base/log/agent-log.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import { Journal } from '../../../../lib/engine/steps/journal.ts';
import { Reporter } from '../../../../lib/engine/steps/reporter.ts';
import { PlanRunner } from '../../../../lib/engine/steps/runner.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { testHost } from '../host/host.ts';
import { giveRendered } from '../host/rendered.ts';

t.test('an interrupted clean-up renders nothing again', async (t) => {
  const it = testHost(t);
  await giveRendered(it);
  it.write('/etc/sno-agents/leftovers.json', '{"entries":[],"goneKeys":[]}');
  const whole = aiokubePlan(defaultSettings);
  const steps = whole.steps.filter(
    ({ name, neededUntil }) => name === 'leftovers' || neededUntil === 'leftovers',
  );
  const plan = { ...whole, steps, announce: async () => {} };
  const journal = await Journal.open(it.at('/var/lib/sno-agents/aiokube/journal.jsonl'));
  for (const { name, input } of steps) {
    const entry = { at: '2030-01-01T00:00:00Z', boot: 'b', up: 1, attempt: 1 };
    const given = fingerprint(await input(it.context));
    await journal.append({ ...entry, step: name, input: given, event: 'done' });
  }
  it.remove('/opt/openshift/rendered.json');
  const reporter = new Reporter(plan, it.paths);
  const lines: string[] = [];
  const runner = new PlanRunner(plan, it.context, {
    journal,
    ...openAgentLog('aiokube', { write: (line) => lines.push(line), isJournal: false }),
    reporter,
    clock: async () => ({ boot: 'b', up: 2 }),
    stop: new AbortController().signal,
  });
  t.same(await runner.run(), { kind: 'done' }, lines.join(''));
  await reporter.agentEnds('stopped', 0);
  t.ok(steps.length > 6);
  t.notOk(it.has('/opt/openshift/rendered.json'));
  t.same(it.programs.calls(), [], 'nothing was started or asked');
});

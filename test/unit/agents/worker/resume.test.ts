import t from 'tap';
import { clean } from '../../../../agents/steps/clean.ts';
import { workerPlan } from '../../../../agents/worker/plan.ts';
import { openAgentLog } from '../../../../lib/base/log/agent-log.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import { Journal } from '../../../../lib/engine/steps/journal.ts';
import { Reporter } from '../../../../lib/engine/steps/reporter.ts';
import { PlanRunner } from '../../../../lib/engine/steps/runner.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { workerHost } from './worker-host.ts';

/** The token is gone, and nobody approves anything for it. */
const CONSUMED = ['kubelet-identity', 'kubelet-files', 'kubelet', 'serving-certificate'];

t.test('an interrupted clean-up requests nothing again', async (t) => {
  const { host, api } = await workerHost(t);
  await fakeRuntime(t, host, () => [], {});
  host.programs.give('systemctl', 'case "$1" in disable|daemon-reload) ;; *) exit 97 ;; esac');
  const whole = workerPlan(defaultSettings);
  const names = [...CONSUMED, 'leftovers', 'clean'];
  const steps = whole.steps.filter(({ name }) => names.includes(name));
  t.equal(steps.length, names.length);
  const plan = { ...whole, steps, announce: async () => {} };
  await steps.find(({ name }) => name === 'leftovers')?.run(host.context, host.progress());
  await host.run(clean);
  const journal = await Journal.open(host.at('/var/lib/sno-agents/worker/journal.jsonl'));
  for (const { name, input } of steps) {
    const entry = { at: '2030-01-01T00:00:00Z', boot: 'b', up: 1, attempt: 1 };
    const given = fingerprint(await input(host.context));
    await journal.append({ ...entry, step: name, input: given, event: 'done' });
  }
  host.programs.forgetCalls();
  const lines: string[] = [];
  const reporter = new Reporter(plan, host.paths);
  const runner = new PlanRunner(plan, host.context, {
    journal,
    ...openAgentLog('worker', { write: (line) => lines.push(line), isJournal: false }),
    reporter,
    clock: async () => ({ boot: 'b', up: 2 }),
    stop: AbortSignal.timeout(20_000),
  });
  t.same(await runner.run(), { kind: 'done' }, lines.join(''));
  await reporter.agentEnds('stopped', 0);
  t.same(api.requests, []);
  t.same(host.programs.calls(), [], 'nothing was started or asked');
});

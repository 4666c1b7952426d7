/** What an agent that goes on with a site of OpenShift does again: what is needed and lost, and nothing that a later step undoes. */
import t from 'tap';
import { reconfigureOpenShiftPlan } from '../../../../agents/reconfigure/openshift/plan.ts';
import { openAgentLog } from '../../../../lib/base/log/agent-log.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import { Journal } from '../../../../lib/engine/steps/journal.ts';
import { Reporter } from '../../../../lib/engine/steps/reporter.ts';
import { PlanRunner } from '../../../../lib/engine/steps/runner.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import { defaultSettings } from '../../../../lib/host/settings.ts';
import { testHost } from '../host/host.ts';

const { steps, ...plan } = reconfigureOpenShiftPlan(defaultSettings);
const names = steps.map(({ name }) => name);

for (const [last, lost, again] of [
  ['arm', ['check'], []],
  [
    'clock',
    ['stop', 'network', 'local-names', 'clock'],
    ['stop', 'network', 'local-names', 'clock'],
  ],
  ['start', ['stop', 'network', 'clock'], []],
  ['objects', ['start', 'certificates', 'objects'], ['start', 'certificates', 'objects']],
  ['routes', ['objects'], []],
  ['names', ['local-names', 'start', 'routes'], ['local-names', 'start', 'routes']],
  [
    'confirm',
    names.filter((name) => !['arm', 'hostname', 'confirm', 'conclude'].includes(name)),
    [],
  ],
] as const) {
  t.test(`behind ${last}, without what ${lost.join(', ')} left`, async (t) => {
    const host = testHost(t);
    const gone = new Set<string>(lost);
    const ran: string[] = [];
    const all = steps.map(({ instead: _, ...step }) => ({
      ...step,
      input: () => 'one request',
      holds: async () => !gone.has(step.name),
      async run() {
        ran.push(step.name);
        gone.delete(step.name);
        return done();
      },
    }));
    const journal = await Journal.open(host.at('/var/lib/sno-agents/reconfigure/journal.jsonl'));
    const input = fingerprint('one request');
    for (const step of names.slice(0, names.indexOf(last) + 1)) {
      const entry = { at: '2030-01-01T00:00:00Z', boot: 'b', up: 1, attempt: 1 };
      await journal.append({ ...entry, step, input, event: 'done' });
    }
    const resumed = { ...plan, steps: all, announce: async () => {} };
    const reporter = new Reporter(resumed, host.paths);
    const runner = new PlanRunner(resumed, null, {
      journal,
      ...openAgentLog('reconfigure', { write: () => undefined, isJournal: false }),
      reporter,
      clock: async () => ({ boot: 'b', up: 2 }),
      stop: new AbortController().signal,
    });
    t.same(await runner.run(), { kind: 'done' });
    await reporter.agentEnds('stopped', 0);
    t.same(ran, [...again, ...names.slice(names.indexOf(last) + 1)]);
  });
}

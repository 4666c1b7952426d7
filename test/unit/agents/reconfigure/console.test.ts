/** What a technician reads on the console, and how long it is said to take. */
import t from 'tap';
import { consoleLines } from '../../../../agents/reconfigure/console.ts';
import { reconfigureOpenShiftPlan } from '../../../../agents/reconfigure/openshift/plan.ts';
import { paceOf, USUAL_SECONDS } from '../../../../agents/reconfigure/pace.ts';
import { reconfigurePlan } from '../../../../agents/reconfigure/plan.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { PLAIN_STEPS } from '../../../../lib/engine/console/plain-steps.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';
import { testHost } from '../host/host.ts';

const status = (more: Partial<AgentStatus>): AgentStatus => ({
  schemaVersion: 1,
  version: '1',
  agent: 'reconfigure',
  unit: 'reconfigure',
  state: 'running',
  updated: '',
  pace: { elapsedSeconds: 5, usualSeconds: 71 },
  ...more,
});
const step = (name: string, number: number, waitingFor?: string) => ({
  name,
  number,
  of: 14,
  attempt: 1,
  since: '',
  until: '',
  ...(waitingFor === undefined ? {} : { waitingFor }),
});
const WHO = 'Setting this host up for its site';

t.test('one line for each step, in plain words, and each wait for the network; PASS', (t) => {
  const lines: string[] = [];
  const see = consoleLines((text) => lines.push(text));
  see(status({}));
  see(status({ step: { ...step('arm', 2), attempt: 0 } }));
  see(status({ step: step('stop', 3) }));
  see(status({ step: { ...step('stop', 3), attempt: 2 } }));
  see(status({ step: step('network', 4) }));
  see(status({ step: step('network', 4, 'no answer\u001b[2J from 192.0.2.1') }));
  see(status({ step: step('network', 4, 'no answer\u001b[2J from 192.0.2.1') }));
  see(status({ state: 'done' }));
  t.same(lines, [
    `${WHO}: step 3 of 14 (stopping the cluster), after 0:05, usually 1:11 in all\n`,
    `${WHO}: step 4 of 14 (connecting to the network of the site), after 0:05, usually 1:11 in all\n`,
    `${WHO}: step 4 of 14 (connecting to the network of the site), after 0:05, usually 1:11 in all; waiting for no answer[2J from 192.0.2.1\n`,
    'PASS: this host is set up for its site.\n',
  ]);
  t.end();
});

t.test(
  'a step that takes its time: again after ten seconds, without what only support understands',
  (t) => {
    const lines: string[] = [];
    const see = consoleLines((text) => lines.push(text));
    for (const elapsedSeconds of [40, 45, 49, 50, 55, 71]) {
      const pace = { elapsedSeconds, usualSeconds: 71 };
      see(status({ pace, step: step('settle', 11, `Unknown: pods.v1, ${elapsedSeconds}`) }));
    }
    const at = (elapsed: string) =>
      `${WHO}: step 11 of 14 (waiting until the cluster is at rest), after ${elapsed}, usually 1:11 in all\n`;
    t.same(lines, ['0:40', '0:50', '1:11'].map(at));
    t.end();
  },
);

t.test('FAIL with one instruction and a code', (t) => {
  const lines: string[] = [];
  const see = consoleLines((text) => lines.push(text));
  const failure = new Failure('fatal', 'no link on eno1', {
    code: 'site-link',
    fix: 'Check the cable in eno1.',
  });
  see(status({ state: 'failed', failure: failureData(failure), reason: 'x' }));
  see(status({ state: 'reboot', reason: 'it goes back' }));
  t.same(lines, [
    'FAIL: no link on eno1\nWhat to do: Check the cable in eno1.\nCode: site-link\n',
    `${WHO}: this host restarts: it goes back\n`,
  ]);
  t.end();
});

t.test(
  'the usual time and the plain words know every step; that of before a restart counts',
  (t) => {
    const { settings } = testHost(t).context;
    const plan = reconfigurePlan(settings);
    const openShift = reconfigureOpenShiftPlan(settings);
    const steps = plan.steps.map(({ name }) => name);
    t.same(Object.keys(USUAL_SECONDS), steps);
    const both = [...steps, ...openShift.steps.map(({ name }) => name)];
    t.same(Object.keys(PLAIN_STEPS).toSorted(), [...new Set(both)].toSorted());
    const entry = { at: '', boot: '', up: 0, attempt: 1 };
    const of = (id: string) => ({ ...entry, input: fingerprint(id), event: 'done' as const });
    const entries = [
      { ...of('earlier'), step: 'stop', seconds: 100 },
      { ...of('this'), step: 'stop', seconds: 3.6 },
      { ...of('this'), step: 'network', seconds: 2 },
      { ...of('this'), step: 'start', event: 'started' as const },
    ];
    const usualSeconds = Object.values(USUAL_SECONDS).reduce((a, b) => a + b, 0);
    t.same(paceOf(plan, entries, { id: 'this' }), { beforeSeconds: 6, usualSeconds });
    t.same(paceOf(plan, [], { id: 'this' }), { beforeSeconds: 0, usualSeconds });
    t.ok(paceOf(openShift, [], { id: 'this' }).usualSeconds > 1200, 'operators take their time');
    t.end();
  },
);

import t from 'tap';
import type { JournalEntry } from '../../../../lib/engine/steps/journal.ts';
import { planText, statusText } from '../../../../lib/engine/steps/print.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';
import { done, type Plan } from '../../../../lib/engine/steps/step.ts';
import type { Touched } from '../../../../lib/engine/steps/touched.ts';

const step = (name: string, deadlineMs: number, touches: readonly Touched[] = []) => ({
  name,
  leaves: `the ${name}`,
  touches,
  deadlineMs,
  input: () => name,
  holds: async () => true,
  run: async () => done(),
});
const plan: Plan<null> = {
  agent: 'bootkube',
  unit: 'bootkube',
  purpose: 'bootstraps',
  steps: [step('a', 60_000), step('kubelet', 90_400), step('etcd', 7_200_000, ['disk', 'etcd'])],
};

t.test(
  'a plan is printed as its steps, their deadlines, results and what they touch',
  async (t) => {
    t.equal(
      planText(plan),
      `bootkube: bootstraps

 1  a            1m  the a
 2  kubelet     90s  the kubelet
 3  etcd       120m  the etcd  [disk, etcd]
`,
    );
  },
);

t.test(
  'a status is printed as the state of the agent and the last entry of each step',
  async (t) => {
    const entry = (name: string, more: Partial<JournalEntry>): JournalEntry => ({
      at: '2030-01-01T00:00:00Z',
      boot: 'b',
      up: 1,
      step: name,
      input: 'i',
      event: 'started',
      attempt: 1,
      ...more,
    });
    const failure = { code: 'x', kind: 'retry', what: 'no quorum', found: 'one' } as const;
    const entries = [
      entry('a', { event: 'done', seconds: 1.5, note: 'two files' }),
      entry('kubelet', { event: 'done' }),
      entry('kubelet', { event: 'attempt-failed', failure, reason: 'r', note: 'n' }),
    ];
    t.equal(
      statusText(plan, undefined, entries),
      `bootkube: has not run since the host started
  a        done in 1.5s (2030-01-01T00:00:00Z): two files
  kubelet  attempt-failed (2030-01-01T00:00:00Z): no quorum; found one
  etcd     -
`,
    );
    const reboot = [entry('etcd', { event: 'reboot', reason: 'a kernel', note: 'n' })];
    t.match(statusText(plan, undefined, reboot), /^ {2}etcd {5}reboot \(2030-.*Z\): a kernel$/m);
    const [since, until] = ['2030-01-01T00:00:01Z', '2030-01-01T00:01:01Z'];
    const current = { name: 'etcd', number: 3, of: 3, attempt: 1, since, until };
    const table: [status: Partial<AgentStatus>, text: string][] = [
      [{ step: current }, `running step 3 of 3, etcd; since ${since}, until ${until}`],
      [
        { step: { ...current, waitingFor: 'a leader' } },
        `running step 3 of 3, etcd, waiting for a leader; since ${since}, until ${until}`,
      ],
      [{}, 'running'],
      [{ state: 'done', step: current }, 'done'],
      [{ state: 'failed', step: current, reason: 'etcd: no quorum' }, 'failed: etcd: no quorum'],
    ];
    for (const [status, text] of table) {
      const common = { schemaVersion: 1, version: '1', agent: 'bootkube', unit: 'u' } as const;
      const full: AgentStatus = { ...common, state: 'running', updated: '', ...status };
      t.equal(statusText(plan, full, []).split('\n')[0], `bootkube: ${text}`);
    }
  },
);

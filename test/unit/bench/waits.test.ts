import t from 'tap';
import { bootkubePlan } from '../../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../../agents/install-to-disk/plan.ts';
import { postRebootPlan } from '../../../agents/post-reboot/plan.ts';
import { handoverRow, shareRow } from '../../../bench/lab/share.ts';
import { type OurDelay, pollDelay, waitRows } from '../../../bench/waits/rows.ts';
import { shellPolls } from '../../../bench/waits/shell-polls.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';

t.test('every wait of the shell flow corresponds to a step that exists', async (t) => {
  const steps = [bootkubePlan, installToDiskPlan, postRebootPlan].flatMap((plan) => {
    const { agent, steps } = plan(defaultSettings);
    return steps.map(({ name }) => `${agent} ${name}`);
  });
  for (const { step } of shellPolls) t.ok(steps.includes(step), step);
});

t.test(
  'an event waits half an interval on average for the next poll, at most the interval',
  async (t) => {
    t.strictSame(pollDelay(20), { median: 10, min: 0, max: 20 });
  },
);

t.test('the total is the sum of the medians of all waits', async (t) => {
  const polled: OurDelay = { kind: 'polled', everySeconds: 1 };
  const measured: OurDelay = { kind: 'measured', seconds: [0.25, 0.01, 9] };
  const rows = waitRows({
    'bootkube etcd': measured,
    'bootkube control-plane': polled,
    'bootkube manifests': polled,
    'bootkube stop-etcd': polled,
    'install-to-disk wait-for-bootkube': measured,
    'post-reboot api': polled,
    'post-reboot serving-certificate': polled,
    'post-reboot node-ready': polled,
    'post-reboot steady-state': polled,
  });
  t.equal(rows.length, shellPolls.length + 1);
  t.match(rows[0], {
    what: 'bootkube etcd: etcd answers',
    ours: { median: 0.25, min: 0.01, max: 9 },
    theirs: { median: 2.5, min: 0, max: 5 },
    ratio: 0.1,
    repetitions: 3,
    note: /^Ours is measured/,
  });
  t.match(rows[1], {
    ours: pollDelay(1),
    repetitions: 0,
    note: /computed from its own polling interval/,
  });
  const sum = rows.at(-1);
  t.equal(sum?.ours.median, 7 * 0.5 + 2 * 0.25);
  t.equal(sum?.theirs.median.toFixed(3), '33.100');
});

const stage = (name: string, seconds: number) => ({ name, seconds });

t.test("the agents' share is of the installation, without the lab's checks", async (t) => {
  const row = shareRow({
    stages: [
      stage('Create the installation', 1000),
      stage('Boot the live host', 5),
      stage('Bootstrap and write the disk', 40),
      stage('Look at the disk before its first boot', 1000),
      stage('Boot from the disk', 15),
      stage('Restore, join and clean up', 40),
      stage('Check the cluster', 1000),
    ],
    steps: [
      { name: 'payload', seconds: 8, cpu: 4 },
      { name: 'render', seconds: 1, cpu: 1 },
    ],
    versions: {},
  });
  t.match(row, { ours: { median: 5 }, theirs: { median: 100 }, ratio: 0.05 });
});

t.test('the handover is measured between the ends of two steps', async (t) => {
  const entry = (step: string, up: number) => ({
    ...{ at: '', boot: 'b', up, step, input: '', attempt: 1 },
    event: 'done' as const,
  });
  const row = handoverRow([entry('finish', 100)], [entry('wait-for-bootkube', 100.25)]);
  t.match(row, { ours: { median: 0.25 }, theirs: { median: 2.5, max: 5 }, ratio: 0.1 });
  t.throws(() => handoverRow([], [entry('wait-for-bootkube', 1)]), /no done entry for step finish/);
});

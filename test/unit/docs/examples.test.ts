import t from 'tap';
import { aiokubePlan } from '../../../agents/aiokube/plan.ts';
import { bootkubePlan } from '../../../agents/bootkube/plan.ts';
import { installToDiskPlan } from '../../../agents/install-to-disk/plan.ts';
import { postRebootPlan } from '../../../agents/post-reboot/plan.ts';
import { reconfigureOpenShiftPlan } from '../../../agents/reconfigure/openshift/plan.ts';
import { paceOf } from '../../../agents/reconfigure/pace.ts';
import { reconfigurePlan } from '../../../agents/reconfigure/plan.ts';
import { liveChecks as checks } from '../../../agents/steps/preflight/preflight.ts';
import { payloadPlan } from '../../../agents/upkeep/payload/plan.ts';
import { configNotices } from '../../../cli/create/site-notices.ts';
import { readInstallSettings } from '../../../cli/install-config/settings.ts';
import { MINIMAL_INSTALL_CONFIG } from '../../../docs/install-config-reference.ts';
import { EXIT } from '../../../lib/base/errors/exit-codes.ts';
import { EVENTS } from '../../../lib/base/log/message-ids.ts';
import { issueOf } from '../../../lib/engine/console/issue.ts';
import { progressLine } from '../../../lib/engine/console/progress-line.ts';
import type { AgentStatus } from '../../../lib/engine/steps/status.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { SITE_CA } from '../cli/certificates.ts';
import { read } from './documents.ts';

const operator = read('docs/operator.md');
const technician = read('docs/technician.md');
const support = read('docs/support.md');

t.test('the lines of the example are those shown to the technician', async (t) => {
  const version = { schemaVersion: 1, version: '1.2.3' } as const;
  for (const { plan, name } of [
    { plan: bootkubePlan(defaultSettings), name: 'manifests' },
    { plan: installToDiskPlan(defaultSettings), name: 'write-disk' },
    { plan: payloadPlan(defaultSettings), name: 'install-payload' },
    { plan: postRebootPlan(defaultSettings), name: 'steady-state' },
    { plan: aiokubePlan(defaultSettings), name: 'etcd' },
  ]) {
    const { agent, unit, steps } = plan;
    const number = steps.findIndex((step) => step.name === name) + 1;
    const step = { name, number, of: steps.length, attempt: 1, since: '', until: '' };
    const status: AgentStatus = { ...version, agent, unit, state: 'running', updated: '', step };
    t.ok(technician.includes(`   ${progressLine(status)}\n`), name);
  }
  const ended = (agent: string, state: 'reboot' | 'done'): AgentStatus => ({
    ...{ ...version, agent, unit: 'x', state, updated: '' },
  });
  t.ok(technician.includes(`   ${progressLine(ended('install-to-disk', 'reboot'))}\n`), 'reboot');
  const passed = ended('post-reboot', 'done');
  t.ok(technician.includes(`   ${progressLine(passed)}\n`), 'PASS');
  const usual = (seconds: number) => `${Math.floor(seconds / 60)}:${seconds % 60}`;
  const { usualSeconds } = paceOf(reconfigurePlan(defaultSettings), [], { id: '' });
  t.match(technician, `after 0:00, usually ${usual(usualSeconds)} in all`);
  const onOpenShift = paceOf(reconfigureOpenShiftPlan(defaultSettings), [], { id: '' });
  t.match(
    read('docs/relocation-openshift.md'),
    `on the console, ${usual(onOpenShift.usualSeconds)}:`,
  );
  const record = { cluster: 'sno.example.com', completed: '2026-11-21T10:00:00Z' };
  const site = { serial: 7, since: '2026-12-03T10:00:00Z' };
  const moved = { ...record, cluster: 'shop.example.com', site };
  for (const [statuses, installed] of [
    [[passed], record],
    [[], moved],
    [[], { ...record, awaitsSite: true }],
  ] as const) {
    const prompt = issueOf(statuses, installed)?.text.trim().split('\n') ?? [];
    t.ok(technician.includes(`   ${prompt.join('\n   ')}\n`), prompt.join(' '));
  }
  const [begun = ''] =
    issueOf([ended('bootkube', 'done')], undefined)
      ?.text.trim()
      .split('\n') ?? [];
  t.ok(technician.includes(`\`${begun}\``), begun);
});

t.test('the operator guide lists every check, in order, with its limits', async (t) => {
  const table = operator.split('| Check | Requirement |')[1]?.split('\n\n')[0] ?? '';
  const cells = Array.from(
    table.matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm),
    ([, cell = '']) => cell,
  );
  const named = cells.flatMap((cell) => cell.split(', ').map((name) => name.replaceAll('`', '')));
  t.strictSame(
    named,
    checks.map(({ name }) => name),
  );
  const { minMemoryMiB, minDiskGB, preflightMs } = defaultSettings;
  t.match(table, `at least ${minMemoryMiB} MiB`);
  t.match(table, `at least ${minDiskGB} GB`);
  t.match(operator, `for ${preflightMs / 60_000} minutes`);
});

t.test("the operator's example of a site is accepted", async (t) => {
  const example = /```yaml\n(proxy:[\s\S]*?)```/.exec(operator)?.[1] ?? '';
  const certificate = SITE_CA.trim().replaceAll('\n', '\n  ');
  const site = example.replace(
    /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/,
    certificate,
  );
  const minimal = MINIMAL_INSTALL_CONFIG.replace(/bootstrapInPlace:\n {2}.*\n/, '');
  const given = readInstallSettings(`${minimal}${site}`, undefined);
  t.same(given.ok ? [] : given.faults, []);
  const notices = given.ok ? configNotices(given.settings) : [];
  t.same(
    notices.filter((notice) => /networkConfig|partitions|certificate|containerd/.test(notice)),
    [
      'networkConfig expects these adapters on the host: eno1, eno2',
      'partitions kept on the disk: data*',
    ],
  );
});

t.test('support has a row for each exit code', async (t) => {
  const codes = Array.from(support.matchAll(/^\| (\d) \|/gm), ([, code]) => Number(code));
  t.strictSame(codes, Object.values(EXIT));
});

t.test('steps that are named in commands exist', async (t) => {
  const steps = bootkubePlan(defaultSettings).steps.map(({ name }) => name);
  const named = Array.from(
    support.matchAll(/--(?:from|until) ([a-z-]+)/g),
    ([, name = '']) => name,
  );
  t.not(named.length, 0);
  for (const name of named) t.ok(steps.includes(name), name);
});

t.test('support has a row for each event of the journal', async (t) => {
  const priorities = { 3: 'error', 4: 'warning', 5: 'notice', 6: 'info' };
  const rows = Array.from(support.matchAll(/^\| `([a-z-]+)` \| `(\w{32})` \| (\w+) \|/gm), (row) =>
    row.slice(1, 4),
  );
  t.strictSame(
    rows,
    Object.entries(EVENTS).map(([name, { id, priority }]) => [name, id, priorities[priority]]),
  );
});

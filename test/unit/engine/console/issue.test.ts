import t from 'tap';
import { type Installed, issueOf } from '../../../../lib/engine/console/issue.ts';
import { progressLine } from '../../../../lib/engine/console/progress-line.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';

const status = (agent: string, more: Partial<AgentStatus> = {}): AgentStatus => ({
  schemaVersion: 1,
  version: '1',
  agent,
  unit: agent,
  state: 'running',
  updated: '2026-01-01T00:00:00Z',
  ...more,
});
const step = (name: string, number: number, of: number) => ({
  step: { name, number, of, attempt: 1, since: '', until: '' },
});
const installed: Installed = {
  cluster: 'sno.example.com',
  completed: '2026-11-21T10:00:00.000Z',
};
const dns = {
  code: 'x',
  kind: 'deadline',
  what: 'preflight: no record for api.sno.example.com',
  fix: 'Add a DNS record.',
} as const;
const failed = (agent: string, exitCode: number) =>
  status(agent, { state: 'failed', exitCode, reason: 'all of it. Do it.', failure: dns });

const trial = (code: string) =>
  status('sno-trial', { state: 'failed', exitCode: 4, failure: { ...dns, code } });

interface Case {
  readonly name: string;
  readonly statuses: readonly AgentStatus[];
  readonly installed?: Installed;
  readonly verdict?: string;
  readonly says?: readonly string[];
  readonly not?: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'nothing has run', statuses: [] },
  { name: 'only agents that install nothing', statuses: [status('progress'), status('gather')] },
  {
    name: 'installing',
    statuses: [
      status('bootkube', step('manifests', 8, 17)),
      status('install-to-disk', step('wait-for-bootkube', 2, 6)),
    ],
    verdict: 'installing',
    says: [
      'This host is being installed. Do not switch it off.',
      'Now: Preparing the cluster: step 8 of 17 (manifests)',
      'Now: Writing the disk: step 2 of 6 (wait-for-bootkube)',
    ],
  },
  {
    name: 'why what is waited for does not come',
    statuses: [
      status('aiokube', {
        step: {
          ...step('kubelet', 7, 26).step,
          trouble: 'kubelet.service has ended: no cgroup v1',
        },
      }),
    ],
    verdict: 'installing',
    says: [
      'Now: Setting up the cluster: step 7 of 26 (kubelet): kubelet.service has ended: no cgroup v1',
    ],
  },
  {
    name: 'failed, and not tried again',
    statuses: [failed('bootkube', 3), status('install-to-disk', step('wait-for-bootkube', 2, 6))],
    verdict: 'failed',
    says: [
      'FAILED: Preparing the cluster: preflight: no record for api.sno.example.com',
      'What to do: Add a DNS record.',
      'Code: x',
      'call support',
    ],
    not: ['being installed', 'Now:'],
  },
  {
    name: 'failed, and systemd tries again',
    statuses: [failed('bootkube', 1)],
    verdict: 'installing',
    says: ['Now: Preparing the cluster'],
    not: ['FAILED'],
  },
  {
    name: 'a oneshot is not tried again',
    statuses: [failed('sno-payload', 1)],
    verdict: 'failed',
    says: ['FAILED: Checking the software: preflight'],
  },
  {
    name: 'a failure without data',
    statuses: [status('bootkube', { state: 'failed', exitCode: 4, reason: 'its reason' })],
    verdict: 'failed',
    says: ['FAILED: Preparing the cluster: its reason'],
    not: ['What to do'],
  },
  {
    name: 'two failures',
    statuses: [failed('sno-payload', 4), failed('sno-restore', 3)],
    verdict: 'failed',
    says: ['FAILED: Checking the software', 'FAILED: Restoring the cluster'],
  },
  {
    name: 'the disk is written',
    statuses: [
      status('bootkube', { state: 'done' }),
      status('install-to-disk', { state: 'reboot' }),
    ],
    verdict: 'restarting',
    says: ['The disk is written. This host restarts into it automatically.'],
  },
  {
    name: 'the record is there, and post-reboot not over yet',
    statuses: [status('post-reboot', step('retire', 9, 9))],
    installed,
    verdict: 'installing',
    says: ['Now: Starting the cluster: step 9 of 9 (retire)'],
    not: ['PASS'],
  },
  {
    name: 'the same of an all-in-one host',
    statuses: [status('aiokube', step('retire', 22, 22))],
    installed,
    verdict: 'installing',
    says: ['Now: Setting up the cluster: step 22 of 22 (retire)'],
    not: ['PASS'],
  },
  {
    name: 'finished',
    statuses: [status('sno-payload', { state: 'done' }), status('post-reboot', { state: 'done' })],
    installed,
    verdict: 'installed',
    says: ['PASS: this host is installed: cluster sno.example.com, since 2026-11-21.'],
    not: ['Now:', 'FAILED'],
  },
  {
    name: 'a later start of a finished host',
    statuses: [status('sno-payload', step('verify', 1, 2))],
    installed,
    verdict: 'installed',
    says: ['PASS: this host is installed', 'Now: Checking the software: step 1 of 2 (verify)'],
  },
  {
    name: 'a finished host that does not come up',
    statuses: [failed('sno-payload', 4)],
    installed,
    verdict: 'failed',
    says: ['FAILED: Checking the software', 'What to do: Add a DNS record.'],
    not: ['PASS'],
  },
  {
    name: 'sealed, until its site volume is there',
    statuses: [status('sno-payload', { state: 'done' })],
    installed: { ...installed, awaitsSite: true },
    verdict: 'waiting',
    says: ['This host waits for its site volume. Insert the stick'],
    not: ['PASS'],
  },
  {
    name: 'being set up for its site, sealed or not any more',
    statuses: [
      status('reconfigure', {
        ...step('network', 4, 14),
        pace: { elapsedSeconds: 25, usualSeconds: 71 },
      }),
    ],
    installed: { ...installed, awaitsSite: true },
    verdict: 'moving',
    says: [
      'This host is being set up for its site. Do not switch it off.',
      'Now: Setting this host up for its site: step 4 of 14 (connecting to the network of the site), after 0:25, usually 1:11 in all',
    ],
    not: ['PASS', 'waits'],
  },
  {
    name: 'set up for its site',
    statuses: [status('reconfigure', { state: 'done' })],
    installed,
    verdict: 'installed',
    says: ['PASS: this host is installed: cluster sno.example.com'],
  },
  {
    name: 'later, by the volume and the day of its site',
    statuses: [],
    installed: { ...installed, site: { serial: 7, since: '2026-12-03T10:00:00Z' } },
    verdict: 'installed',
    says: ['PASS: this host is set up for its site: cluster', 'volume 7, since 2026-12-03.'],
    not: ['2026-11-21'],
  },
  {
    name: 'a site volume that is refused',
    statuses: [failed('reconfigure', 2)],
    installed: { ...installed, awaitsSite: true },
    verdict: 'failed',
    says: ['FAILED: Setting this host up for its site', 'What to do: Add a DNS record.', 'Code: x'],
    not: ['PASS'],
  },
  {
    name: 'a stick that is no volume, after a site that was taken back',
    statuses: [trial('trial-reverted'), failed('reconfigure', 4)],
    installed: { ...installed, awaitsSite: true, stickNotes: ['Take another stick.'] },
    verdict: 'waiting',
    says: ['This host waits for its site volume.', 'Take another stick.'],
    not: ['FAILED'],
  },
  {
    name: 'later, a stick is of no interest',
    statuses: [],
    installed: { ...installed, stickNotes: ['Take another stick.'] },
    verdict: 'installed',
    says: ['PASS'],
    not: ['stick'],
  },
  {
    name: 'a site that was taken back is one failure, with its instruction',
    statuses: [trial('trial-reverted'), failed('reconfigure', 4)],
    installed: { ...installed, awaitsSite: true },
    verdict: 'failed',
    says: ['FAILED: Setting this host up for its site', 'What to do: Add a DNS record.'],
    not: ['Checking a change'],
  },
  {
    name: 'a site that was taken back, but not completely',
    statuses: [trial('trial-incomplete'), failed('reconfigure', 4)],
    installed,
    verdict: 'failed',
    says: ['FAILED: Checking a change of this host', 'FAILED: Setting this host up for its site'],
  },
  {
    name: 'another change that was taken back',
    statuses: [trial('trial-reverted'), status('reconfigure', { state: 'done' })],
    installed,
    verdict: 'failed',
    says: ['FAILED: Checking a change of this host'],
  },
  {
    name: 'a change that was taken back, and the next one kept',
    statuses: [trial('trial-reverted'), status('reconfigure', { state: 'done' })],
    installed: { ...installed, isConfirmed: true },
    verdict: 'installed',
    not: ['FAILED'],
  },
  {
    name: 'a site that was taken back, and the next volume at work',
    statuses: [trial('trial-reverted'), status('reconfigure', { state: 'running' })],
    installed,
    verdict: 'moving',
    says: ['This host is being set up for its site.'],
    not: ['FAILED'],
  },
  {
    name: 'a change that was not put back, whatever came later',
    statuses: [trial('trial-incomplete'), status('reconfigure', { state: 'running' })],
    installed: { ...installed, isConfirmed: true },
    verdict: 'failed',
    says: ['FAILED: Checking a change of this host'],
  },
  ...[true, false].map((awaitsSite) => ({
    name: `brought back on request, ${awaitsSite ? 'to the factory' : 'to an earlier site'}`,
    statuses: [status('sno-trial', { state: 'done' })],
    installed: {
      ...installed,
      awaitsSite,
      takenBack: { what: 'the site configuration 7', at: '2026-11-23T10:00:00.000Z' },
    },
    verdict: awaitsSite ? 'waiting' : 'installed',
    says: ['On 2026-11-23 the site configuration 7 was taken back, as somebody has asked.'],
    not: ['FAILED'],
  })),
  {
    name: 'told to stop',
    statuses: [status('bootkube', { state: 'stopped', exitCode: 1 })],
    verdict: 'installing',
    not: ['FAILED', 'PASS'],
  },
];

t.test('the login prompt shows the state of the host', async (t) => {
  for (const { name, statuses, verdict, says = [], not = [], installed: record } of cases) {
    const issue = issueOf(statuses, record);
    t.equal(issue?.verdict, verdict, name);
    const text = issue?.text.replace(/\s+/g, ' ') ?? '';
    for (const part of says) t.ok(text.includes(part), `${name}: "${part}" in ${text}`);
    for (const part of not) t.notOk(text.includes(part), `${name}: no "${part}" in ${text}`);
  }
});

t.test('quoted text neither controls the terminal nor contains escapes for agetty', async (t) => {
  const what = 'a\u001b[2J\u0007b \\n \\4{eth0}\r\nFAKE: c\u009bd \u202ee';
  const failure = { ...dns, what };
  const text =
    issueOf([status('bootkube', { state: 'failed', exitCode: 4, failure })], undefined)?.text ?? '';
  t.match(text, 'a[2Jb \\\\n \\\\4{eth0} FAKE: cd e');
  t.notMatch(text.replaceAll('\n', ''), /\p{C}/u);
  const line = progressLine(status('bootkube', { state: 'failed', reason: what }));
  t.equal(line, 'Preparing the cluster: FAILED: a[2Jb \\n \\4{eth0} FAKE: cd e');
});

t.test('a failure fits a screen of 80 columns, unless a single word does not', async (t) => {
  const shown = (what: string) =>
    issueOf(
      [status('bootkube', { state: 'failed', exitCode: 4, failure: { ...dns, what } })],
      undefined,
    )?.text ?? '';
  const text = shown(`${'some words '.repeat(30)}${'x'.repeat(100)}`);
  const lines = text.split('\n');
  t.ok(lines.length > 5);
  for (const line of lines) if (!line.includes('xxx')) t.ok(line.length <= 78, line);
  t.match(text, /^\n.*\n\n$/s, 'apart from what is around it');
  t.ok(shown('some words '.repeat(9000)).split('\n').length < 25, 'FAILED stays on it');
});

t.test('the console has a line for each state', async (t) => {
  const table: [AgentStatus | undefined, string | undefined][] = [
    [undefined, undefined],
    [status('progress', step('a', 1, 1)), undefined],
    [status('approve-csr', { state: 'failed', reason: 'x' }), undefined],
    [status('bootkube'), 'Preparing the cluster'],
    [
      status('sno-restore', step('restore-database', 2, 3)),
      'Restoring the cluster: step 2 of 3 (restore-database)',
    ],
    [status('sno-restore', { state: 'failed' }), 'Restoring the cluster: FAILED: no reason given'],
    [status('bootkube', { state: 'failed', reason: 'why' }), 'Preparing the cluster: FAILED: why'],
    [status('bootkube', { state: 'stopped' }), 'Preparing the cluster: stopped'],
    [status('bootkube', { state: 'done' }), 'Preparing the cluster: done'],
    [
      status('post-reboot', { state: 'done' }),
      'PASS: the host is installed. Nothing is left to do.',
    ],
    [status('aiokube', { state: 'done' }), 'PASS: the host is installed. Nothing is left to do.'],
    [
      status('install-to-disk', { state: 'reboot' }),
      'The disk is written. The host restarts into it now; the live medium may be removed.',
    ],
  ];
  for (const [given, line] of table) t.equal(progressLine(given), line);
});

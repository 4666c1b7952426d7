import t from 'tap';
import { isShownAtOnce, issueOf } from '../../../../lib/engine/console/issue.ts';
import type { AgentStatus } from '../../../../lib/engine/steps/status.ts';

const status = (agent: string, more: Partial<AgentStatus> = {}): AgentStatus => ({
  ...{ schemaVersion: 1, version: '1', agent, unit: agent, state: 'running' },
  updated: '2026-01-01T00:00:00Z',
  ...more,
});
const step = (name: string, number: number, of: number) => ({
  step: { name, number, of, attempt: 1, since: '', until: '' },
});
const installed = { cluster: 'sno.example.com', completed: '2026-11-21T10:00:00.000Z' };

t.test('what a prompt shows at once, for who sees nothing else', (t) => {
  const pace = (elapsedSeconds: number) => ({ pace: { elapsedSeconds, usualSeconds: 240 } });
  const site = (name: string, number: number, elapsed: number) =>
    issueOf([status('reconfigure', { ...step(name, number, 14), ...pace(elapsed) })], installed);
  const waiting = issueOf([], { ...installed, awaitsSite: true });
  const check = site('check', 1, 4);
  const bootkube = (number: number) =>
    issueOf([status('bootkube', step('manifests', number, 17))], undefined);
  const restarting = issueOf([status('sno-trial', { state: 'reboot', reason: 'it goes back' })], {
    ...installed,
  });
  const rows: [string, typeof check, typeof check, boolean][] = [
    ['the first text', check, undefined, true],
    ['a volume was inserted', check, waiting, true],
    ['the next step at the site', site('arm', 2, 5), check, true],
    ['time that passes in a step', site('check', 1, 119), check, false],
    ['the next step of an installation', bootkube(9), bootkube(8), false],
    ['an installation that begins', bootkube(8), waiting, true],
    ['a restart in the middle', restarting, check, true],
    ['the end', issueOf([], installed), check, true],
  ];
  for (const [name, issue, before, expected] of rows) {
    t.equal(issue === undefined ? undefined : isShownAtOnce(issue, before?.text), expected, name);
  }
  t.end();
});

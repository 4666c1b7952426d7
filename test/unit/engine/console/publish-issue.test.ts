import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { recordPath } from '../../../../lib/engine/agents/records.ts';
import { issueLink, publishIssue } from '../../../../lib/engine/console/publish-issue.ts';
import { keepStickNotes } from '../../../../lib/engine/console/stick-notes.ts';
import { Reporter, statusPath } from '../../../../lib/engine/steps/reporter.ts';
import { hostPaths } from '../../../../lib/host/paths.ts';
import { readQr } from './read-qr.ts';

t.test('agents write a single text from the statuses of all', async (t) => {
  const root = t.testdir();
  const paths = hostPaths(root);
  const path = join(root, issueLink.target);
  const put = (file: string, data: unknown) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(data));
  };
  const running = { schemaVersion: 1, version: '1', unit: 'x', state: 'running', updated: '' };

  await publishIssue(paths);
  t.throws(() => statSync(path), { code: 'ENOENT' }, 'nothing is known');

  put(statusPath(paths, 'sno-payload'), { agent: 'sno-payload', ...running });
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), 'Now: Checking the software\n');
  t.equal(statSync(path).mode & 0o777, 0o644);
  const { ino } = statSync(path);
  await publishIssue(paths);
  t.equal(statSync(path).ino, ino, 'it is not written again while nothing changes');

  put(statusPath(paths, 'sno-payload'), { agent: 'sno-payload', ...running, state: 'done' });
  put(statusPath(paths, 'post-reboot'), { agent: 'post-reboot', ...running, state: 'done' });
  put(paths.record, {
    cluster: 'sno.example.com',
    completed: '2026-11-21T10:00:00.000Z',
    steps: [],
  });
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /PASS: this host is installed: cluster sno\.example\.com/);

  put(join(paths.config, 'cluster.json'), { name: 'shop', baseDomain: 'example.net' });
  put(join(paths.config, 'sealed'), '');
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /This host waits for its site volume/);
  const refused = { code: 'medium-refused', kind: 'usage', what: 'two', fix: 'Remove one.' };
  const failed = { ...running, state: 'failed', exitCode: 2, failure: refused };
  put(statusPath(paths, 'reconfigure'), { agent: 'reconfigure', ...failed });
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /FAILED.*Remove one/s);
  await keepStickNotes(paths, ['The stick in sdb is formatted as exFAT.\nTake another one.']);
  await publishIssue(paths);
  t.match(
    readFileSync(path, 'utf8'),
    /waits for its site volume.*The stick in sdb is formatted as exFAT\. Take another one\./s,
  );
  t.notMatch(readFileSync(path, 'utf8'), /FAILED|Remove one/, 'it was inserted later');
  await keepStickNotes(paths, []);
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /FAILED.*Remove one/s);
  rmSync(statusPath(paths, 'reconfigure'));
  rmSync(join(paths.config, 'sealed'));
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /PASS: .*cluster shop\.example\.net, since/);

  const id = '01234567-89ab-4cde-8f01-23456789abcd';
  const endedAt = '2026-12-03T10:00:00.000Z';
  const site = { id, outcome: 'configured', endedAt, volume: { serial: 7 } };
  put(recordPath(paths, 'reconfigure'), { ...site, outcome: 'reverted' });
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), /PASS: this host is installed/);
  put(recordPath(paths, 'reconfigure'), site);
  await publishIssue(paths);
  t.match(
    readFileSync(path, 'utf8'),
    /PASS: this host is set up for its site: cluster shop\.example\.net, volume\s7,\ssince\s2026-12-03/,
  );

  const ended = {
    schemaVersion: 1,
    id,
    what: 'the site configuration 7',
    endedAt: '2026-11-23T10:00:00.000Z',
    outcome: 'reverted',
    reason: { code: 'way-back-requested', kind: 'usage', what: 'asked' },
    problems: [],
  };
  put(join(paths.state, 'sno-trial/last.json'), ended);
  await publishIssue(paths);
  t.match(
    readFileSync(path, 'utf8'),
    /PASS: this host is installed: .*On 2026-11-23 the site configuration 7/s,
  );
  put(join(paths.state, 'sno-trial/last.json'), { ...ended, outcome: 'confirmed' });
  await publishIssue(paths);
  t.notMatch(readFileSync(path, 'utf8'), /taken back/);
  t.match(readFileSync(path, 'utf8'), /PASS: this host is set up for its site/);
  const failure = { code: 'trial-reverted', kind: 'fatal', what: 'taken back' };
  put(statusPath(paths, 'sno-trial'), {
    ...running,
    ...{ agent: 'sno-trial', state: 'failed', exitCode: 4, failure },
  });
  await publishIssue(paths);
  t.notMatch(readFileSync(path, 'utf8'), /FAILED/, 'the next change was kept');

  put(statusPath(paths, 'sno-payload'), {
    ...running,
    ...{ agent: 'sno-payload', state: 'failed', exitCode: 4, failure },
  });
  await publishIssue(paths);
  const lines = readFileSync(path, 'utf8').split('\n').slice(1);
  const picture = lines.filter((line) => /[█▀▄]/.test(line));
  t.match(readQr(picture), /^FAIL TRIAL-REVERTED \S+ VOLUME 7 SNO /);
  put(statusPath(paths, 'sno-payload'), { agent: 'sno-payload', ...running, state: 'done' });
  await publishIssue(paths);

  writeFileSync(statusPath(paths, 'post-reboot'), '{"torn');
  await publishIssue(paths);
  t.match(readFileSync(path, 'utf8'), 'PASS', 'what cannot be read changes nothing');
});

t.test('of several concurrent writes the last one is correct', async (t) => {
  const root = t.testdir();
  const paths = hostPaths(root);
  const agents = ['bootkube', 'install-to-disk', 'sno-payload', 'sno-restore', 'post-reboot'];
  await Promise.all(
    agents.map(async (agent) => {
      const reporter = new Reporter({ agent, unit: agent }, paths);
      await reporter.agentBegins();
      for (let number = 1; number <= 5; number++) {
        reporter.stepBegins(`step-${number}`, number, 5, 1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await reporter.agentEnds('stopped', 1);
      const again = new Reporter({ agent, unit: agent }, paths);
      again.stepBegins('last', 5, 5, 1000);
      await again.agentBegins();
    }),
  );
  const text = readFileSync(join(root, issueLink.target), 'utf8');
  t.equal(text.match(/step 5 of 5 \(last\)/g)?.length, agents.length, text);
});

t.test(
  'agetty finds it through a link in /etc/issue.d, which it reads in name order',
  async (t) => {
    t.match(dirname(issueLink.path), '/etc/issue.d');
    t.match(issueLink.path, /\.issue$/, 'it reads no other files');
    t.match(issueLink.target, /^\/run\/sno-agents\//, 'where every agent may write');
  },
);

import t from 'tap';
import type { Rule } from '../../../report/bundle-view.ts';
import { findAll } from '../../../report/findings.ts';
import { analyze, type ReportOptions, reportFiles } from '../../../report/report.ts';
import { rules } from '../../../report/rules.ts';
import { reportSchema } from '../../../report/schema.ts';
import { M, step } from './rule-case.ts';
import { filesOf, viewOf } from './view.ts';

const broken = filesOf('broken');

function report(files: Record<string, string>, options: ReportOptions = {}) {
  const made = reportFiles(analyze(viewOf(files), options));
  const contents = (name: string) => made.find(({ path }) => path === name)?.contents ?? '';
  return {
    files: made,
    page: contents('report.html'),
    data: reportSchema.parse(JSON.parse(contents('report.json'))),
    text: contents('SUMMARY.txt'),
  };
}

t.test('a full disk is the cause, and its consequences follow', async (t) => {
  const outcomes = [{ path: 'resources/pods.json', leftOut: 0, failure: 'connect ECONNREFUSED' }];
  const { data, text, files } = report(broken, { outcomes });
  t.strictSame(
    data.findings.map(({ rule, severity, follows }) => [rule, severity, follows]),
    [
      ['disk-full', 'failing', undefined],
      ['dns-record-missing', 'failing', undefined],
      ['step-failed', 'failing', 'static-pod-crash-looping'],
      ['api-not-answering', 'failing', 'static-pod-crash-looping'],
      ['static-pod-crash-looping', 'failing', 'disk-full'],
      ['static-pod-crash-looping', 'failing', 'static-pod-crash-looping'],
      ['unit-failed', 'warning', 'disk-full'],
    ],
  );
  t.match(data.verdict, { failing: 2, following: 4, warnings: 1 });
  t.match(
    data.verdict.sentence,
    /^2 things are failing: The file system of \/ is full.*; api-int\.lab\.example\.test does not resolve/,
  );
  t.equal(data.state, 'post-reboot ended at step 4 of 9, bootstrap-complete (failed).');
  t.equal(data.findings[0]?.since, '2026-11-21T14:59:11.900Z');
  t.strictSame(data.notCollected, [
    { path: 'resources/pods.json', reason: 'connect ECONNREFUSED' },
  ]);
  t.match(text, /^2 things are failing/);
  t.match(text, `See ${M}/disks/df.json:3`);
  t.strictSame(
    files.map(({ path }) => path),
    ['report.html', 'report.json', 'SUMMARY.txt'],
  );
});

t.test('the summary fits a terminal', async (t) => {
  const { text } = report(broken, { outcomes: [{ path: 'x'.repeat(200), leftOut: 7 }] });
  t.strictSame(
    text.split('\n').filter((line) => line.length > 80 && !line.trim().startsWith('See ')),
    [],
  );
});

t.test('a healthy host', async (t) => {
  const { data, page } = report(filesOf('healthy'));
  t.equal(data.verdict.sentence, 'Nothing is failing.');
  t.match(data.state, 'The installation of lab.example.test was completed on 2026-11-21 14:59:29');
  t.match(page, 'verdict good');
  t.strictSame(data.host.map(({ name, value }) => `${name}: ${value}`).slice(0, 6), [
    'Host: sno.lab.example.test',
    'Node: sno.lab.example.test',
    'Cluster: lab.example.test',
    'Installed: 2026-11-21T14:59:29.432Z',
    'System: Fedora CoreOS 43.20261108.3.0',
    'Kernel: 6.17.7-300.fc43.x86_64',
  ]);
});

t.test('what is missing of a bundle is not called healthy', async (t) => {
  const outcomes = [{ path: 'the rest of the archive', leftOut: 0, failure: 'cut off' }];
  const { data } = report(filesOf('healthy'), { outcomes });
  t.equal(data.verdict.sentence, 'Nothing is failing in what could be read.');
});

t.test('the first error of each unit and container, oldest first', async (t) => {
  const { data } = report(broken);
  t.strictSame(
    data.firstErrors.map(({ unit, at, evidence }) => [unit, at.slice(11, 19), evidence.line]),
    [
      ['dbus', '14:58:26', 1],
      ['kubelet', '14:58:45', 8],
      ['systemd-journald', '14:59:11', 2],
      ['logrotate', '15:00:04', 3],
      ['bootkube', '15:02:00', 4],
      ['container etcd', '15:16:03', 3],
      ['container kube-apiserver', '15:17:52', 2],
    ],
  );
  t.match(data.firstErrors.at(-2)?.text, /^failed to open database: write .*no space left/);
});

t.test('an empty bundle, and an interrupted collection', async (t) => {
  const { data, page, text } = report({}, { isInterrupted: true });
  t.equal(data.verdict.sentence, 'There is nothing to judge: no source could be read.');
  t.equal(data.interrupted, true);
  t.match(page, 'The collection was interrupted');
  t.match(text, 'The collection was interrupted');
});

t.test('content of a bundle is escaped in the page and in the terminal', async (t) => {
  const evil = '</script></style><img src=x onerror=alert(1)>"\'&\u001b[2J\u202e';
  const { page, data, text } = report({
    'bootstrap/steps/bootkube.jsonl': step('15:00:00', 'etcd', 'failed', `${evil}. Do ${evil}`),
    'bootstrap/network/hostname.txt': 'host\n',
    'bootstrap/journals/javascript:alert(1)".log': `2026-11-21T15:00:00.1+0000 x[1]: panic: ${evil}\n`,
    'bootstrap/os-release.txt': `PRETTY_NAME="${evil}\n`,
  });
  t.notMatch(page, /<img|<script|<\/script/);
  t.match(page, '&lt;/script&gt;&lt;/style&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  t.match(page, 'href="./bootstrap/journals/javascript%3Aalert(1)%22.log"');
  t.equal(page.match(/<style>/g)?.length, 1);
  const all = `${page}${text}${JSON.stringify(data)}`.replaceAll('\n', '');
  t.notMatch(all, /[\p{Cc}\p{Cf}]/u);
});

t.test('the page loads nothing from outside', async (t) => {
  const { page } = report(broken);
  t.match(
    page,
    /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-/,
  );
  const sources = Array.from(page.matchAll(/(?:src|href)="([^"]*)"/g), ([, url = '']) => url);
  t.strictSame(
    sources.filter((url) => !/^(\.\/|#|data:,$)/.test(url)),
    [],
  );
  t.notMatch(page, /url\(|@import|<script|style="/);
});

t.test('a rule that throws becomes a note', async (t) => {
  const bad: Rule = {
    name: 'bad',
    looksFor: 'x',
    todo: 'x',
    find() {
      throw new TypeError('cannot read properties of undefined');
    },
  };
  const found = findAll(viewOf(broken), [bad, ...rules]);
  t.match(
    found.find(({ rule }) => rule === 'bad'),
    { severity: 'note', title: /could not be applied: cannot read/ },
  );
  t.equal(found[0]?.rule, 'disk-full');
});

t.test('a hundred equal findings of a rule are truncated', async (t) => {
  const many: Rule = {
    name: 'many',
    looksFor: 'x',
    todo: 'x',
    find: () =>
      Array.from({ length: 100 }, (_, index) => ({
        rule: 'many',
        severity: 'failing' as const,
        title: `number ${index}`,
        evidence: Array.from({ length: 50 }, (_, line) => ({ file: 'f', line, text: '' })),
        todo: 'x',
      })),
  };
  const found = findAll(viewOf({}), [many]);
  t.equal(found.length, 9);
  t.match(found.at(-1)?.title, '92 more like these');
  t.equal(found[0]?.evidence.length, 6);
});

t.test('the summary shows consequences below their cause, and what is still to come', async (t) => {
  const { text } = report(broken);
  const [before = '', after = ''] = text.split(/^2\. api-int/m);
  t.match(before, /Caused by this:.*- logrotate\.service failed/s);
  t.notMatch(after, /Caused by this|logrotate/);
  t.match(after, /- post-reboot: bootstrap-complete failed at 15:02:00; steps still to come: 5/);
  t.match(after, /- finished: bootkube, install-to-disk/);
});

t.test('evidence in a log has the lines around it', async (t) => {
  const { data, page } = report(broken);
  const cited = data.findings.flatMap(({ evidence }) => evidence);
  const inLog = cited.find(({ file }) => file.includes('tails/etcd-'));
  t.match(inLog, { line: 3, text: /no space left/, before: [/Initialize and start/, /fdatasync/] });
  t.equal(inLog?.after, undefined, 'the last line of the file');
  t.match(
    cited.find(({ file, line }) => file.endsWith('errors.jsonl') && line === 2),
    { before: [/^dbus-daemon: /], after: [/^logrotate: /, /^sno-agents: /] },
  );
  t.ok(cited.filter(({ file }) => file.endsWith('.json')).every(({ before }) => !before));
  t.match(page, /<span>[^<]*fdatasync[^<]*<\/span><mark>[^<]*no space left/);
});

t.test('the page names all causes first, and folds agents that have finished', async (t) => {
  const { page } = report(broken);
  t.match(
    page,
    /<h1>2 things are failing<\/h1><ol class="causes"><li><a href="#cause-1">The file system.*?<li><a href="#cause-2">api-int/,
  );
  const agents = Array.from(
    page.matchAll(/<details class="agent (\w+)"( open)?>.*?<b>([\w-]+)</gs),
    ([, state, open, agent]) => [agent, state, open !== undefined],
  );
  t.strictSame(agents.slice(0, 2), [
    ['post-reboot', 'failed', true],
    ['bootkube', 'finished', false],
  ]);
  t.match(page, /5 more steps/);
  t.match(page, /<title>14:59:11 The file system of/, 'the moment of a finding');
  t.match(page, />15:20:00<\/text>/, 'the axis ends when the bundle was made');
});

t.test('text of any length is shortened', async (t) => {
  const { data, page, text } = report({
    'bootstrap/steps/bootkube.jsonl': step(
      '15:00:00',
      'etcd',
      'failed',
      `${'x'.repeat(299_999)}\ud83d\ude00`,
    ),
    'bootstrap/network/hostname.txt': `${'h'.repeat(100_000)}\n`,
  });
  t.ok(page.length < 40_000 && text.length < 10_000 && JSON.stringify(data).length < 30_000);
  t.equal(data.verdict.sentence.isWellFormed(), true);
});

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { isReportInput } from '../../../report/inputs.ts';
import { reportSchema } from '../../../report/schema.ts';
import { sno } from '../../unit/cli/run-sno.ts';
import { gatherHere } from '../../unit/gather/in-process.ts';
import type { Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, unpacked } from '../../unit/gather/tester.ts';
import { type Entry, tarGz } from '../../unit/report/tar-gz.ts';
import { filesOf, NOW } from '../../unit/report/view.ts';

const broken = filesOf('broken');
const VERDICT = /^2 things are failing: The file system of \/ is full/;

/** A bundle of the broken host, as gather creates it. */
async function gathered(t: Test): Promise<string> {
  const tester = new GatherTester(t);
  const sources = Object.entries(broken).map(
    ([path, text]): Synthetic => ({ path, does: 'text', text }),
  );
  const others: Synthetic[] = [
    { path: 'resources/pods.json', does: 'throws' },
    { path: 'resources/pod-logs/a/b/c.log', does: 'lines', bytes: 100_000, phase: 'bulk' },
  ];
  const { code } = await gatherHere(tester, ['gather', '--id', 'x'], [...sources, ...others]);
  t.equal(code, 0);
  return join(tester.home, 'log-bundle-x.tar.gz');
}

/** The same files as entries of an archive. */
const entries: Entry[] = [
  { name: 'x/report.json', text: '{}' },
  ...Object.entries(broken).map(([path, text]) => ({ name: `x/${path}`, text })),
];

async function bundleIn(t: Test, all: readonly Entry[]): Promise<string> {
  const path = join(t.testdir(), 'bundle.tar.gz');
  writeFileSync(path, await tarGz(all, new Date(NOW)));
  return path;
}

async function analysis(path: string) {
  const { code, out, err } = await sno(['analyze', path, '--json']);
  return { code, err, report: reportSchema.parse(JSON.parse(out)) };
}

t.test(
  'on the laptop the report is the same as on the host, from the archive and unpacked',
  async (t) => {
    const archive = await gathered(t);
    const inside = reportSchema.parse(JSON.parse(unpacked(archive, 'log-bundle-x/report.json')));
    t.match(inside.verdict.sentence, VERDICT);
    t.strictSame((await analysis(archive)).report, inside);
    const folder = t.testdir();
    execFileSync('tar', ['xzf', archive, '-C', folder]);
    t.strictSame((await analysis(join(folder, 'log-bundle-x'))).report, inside, 'unpacked');
    t.strictSame((await analysis(folder)).report, inside, 'the folder that it was unpacked in');
    const tar = join(folder, 'bundle.tar');
    writeFileSync(tar, gunzipSync(readFileSync(archive)));
    t.strictSame((await analysis(tar)).report, inside, 'decompressed by a browser');
    const { code, out } = await sno(['analyze', archive]);
    t.equal(code, 0);
    const summary = unpacked(archive, 'log-bundle-x/SUMMARY.txt');
    const untilLast = summary.trimEnd().split('\n').slice(0, -1).join('\n');
    t.equal(out.startsWith(untilLast), true, 'the same summary');
    t.match(out, `sno analyze ${archive} --html report.html`);
  },
);

t.test('a report in the bundle is not trusted', async (t) => {
  const path = await bundleIn(t, [
    { name: 'x/report.json', text: JSON.stringify({ verdict: 'Nothing is failing.' }) },
    { name: 'x/SUMMARY.txt', text: 'Nothing is failing.' },
    ...entries.slice(1),
  ]);
  const { report } = await analysis(path);
  t.match(report.verdict.sentence, VERDICT);
  t.equal(report.made, new Date(NOW).toISOString(), 'without a record, the time of its files');
});

t.test(
  'a truncated archive is analysed as far as it goes, and the missing part is reported',
  async (t) => {
    const archive = await gathered(t);
    const bytes = readFileSync(archive);
    const path = join(t.testdir(), 'truncated.tar.gz');
    for (const [part, verdict] of [
      [0.7, VERDICT],
      [0.2, /There is nothing to judge|failing/],
    ] as const) {
      writeFileSync(path, bytes.subarray(0, bytes.length * part));
      const { code, report } = await analysis(path);
      t.equal(code, 0);
      t.match(report.verdict.sentence, verdict);
      const missing = report.notCollected.map(({ path: name }) => name);
      t.ok(missing.includes('the rest of the archive') && missing.includes('gather.json'));
    }
    t.match((await sno(['analyze', path])).out, /Not analysed: the rest of the archive: /);
  },
);

t.test('the page, with links to the files', async (t) => {
  const archive = await gathered(t);
  const folder = t.testdir();
  const html = join(folder, 'page.html');
  t.equal((await sno(['analyze', archive, '--html', html])).code, 0);
  t.equal(statSync(html).mode & 0o777, 0o600);
  t.match(readFileSync(html, 'utf8'), '<h1>2 things are failing</h1>');
  t.notMatch(readFileSync(html, 'utf8'), /href="(?!#|data:)/, 'no link leads nowhere');
  const to = join(folder, 'new/place');
  const { code, err } = await sno(['analyze', archive, '--to', to, '--html', html]);
  t.equal(code, 0, err);
  const links = [...readFileSync(html, 'utf8').matchAll(/href="([^#"]*\/[^"]*)"/g)];
  t.ok(links.length > 10);
  for (const [, href = ''] of links) t.ok(existsSync(join(folder, decodeURIComponent(href))), href);
  t.equal(statSync(to).mode & 0o777, 0o700);
  for (const name of ['report.html', 'gather.log', 'control-plane/master/disks/df.json']) {
    t.equal(statSync(join(to, name)).mode & 0o777, 0o600, name);
  }
  t.match(readFileSync(join(to, 'report.html'), 'utf8'), 'href="./gather.log"');
  t.strictSame(
    readdirSync(join(to, 'resources/pod-logs/a/b')),
    ['c.log'],
    'also what is not analysed',
  );
  t.match(await sno(['analyze', archive, '--html', folder]), {
    code: 2,
    err: /--html: .* cannot be written/,
  });
});

t.test('input that cannot be a bundle is refused, and nothing is written', async (t) => {
  const archive = await gathered(t);
  const folder = t.testdir({
    empty: {},
    full: { mine: 'mine' },
    'text.tar.gz': 'not an archive',
    'nothing.tar.gz': '',
    'not-tar.tar.gz': gzipSync('x'.repeat(5000)),
    'other.tar.gz': await tarGz([{ name: 'linux/network/README', text: 'x' }], new Date()),
  });
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const cases: [args: string[], message: RegExp][] = [
    [['missing.tar.gz'], /missing.tar.gz cannot be read/],
    [['empty'], /empty is not a log bundle; expected .*the folder/],
    [['full'], /full is not a log bundle/],
    [['text.tar.gz'], /text.tar.gz is not a log bundle/],
    [['nothing.tar.gz'], /nothing.tar.gz is not a log bundle/],
    [['not-tar.tar.gz'], /not-tar.tar.gz is not a log bundle; .*found /],
    [['other.tar.gz'], /other.tar.gz is not a log bundle/],
    [['fifo'], /fifo is not a log bundle; .*neither a regular file nor a folder/],
    [['/dev/null'], /is not a log bundle/],
  ];
  for (const [[name = '', ...rest], message] of cases) {
    const { code, err, out } = await sno(['analyze', resolve(folder, name), ...rest]);
    t.match({ code, err, out }, { code: 2, err: message, out: '' }, name);
  }
  const before = readdirSync(folder);
  for (const [name, message] of [
    ['full', /--to: .*full is not empty; expected a new folder/],
    ['full/mine', /--to: .*mine is not a folder/],
  ] as const) {
    t.match(await sno(['analyze', archive, '--to', join(folder, name)]), { code: 2, err: message });
  }
  const other = join(folder, 'other.tar.gz');
  t.equal((await sno(['analyze', other, '--to', join(folder, 'new')])).code, 2);
  t.strictSame(readdirSync(folder), before);
  t.strictSame(readdirSync(join(folder, 'full')), ['mine']);
});

t.test('a hostile archive: nothing leaves the folder, the rest is analysed', async (t) => {
  const cases: [what: string, entry: Entry][] = [
    ['upwards', { name: 'x/../../escaped', text: 'x' }],
    ['absolute', { name: '/tmp/sno-analyze-escaped', text: 'x' }],
    ['a link', { name: 'x/link', type: 'symlink', linkname: '/etc' }],
    ['a hard link', { name: 'x/hard', type: 'link', linkname: '/etc/hostname' }],
    ['a device', { name: 'x/device', type: 'character-device' }],
    ['a file again', { name: 'x/control-plane/master/disks/df.json', text: '[]' }],
    ['below a file', { name: 'x/control-plane/master/disks/df.json/x', text: 'x' }],
    ['cursor', { name: 'x/\u001b[2J', text: 'x' }],
    ['the name of the report', { name: 'x/report.html/x', text: 'x' }],
    [
      'too large to be analysed',
      { name: 'x/control-plane/master/proc/meminfo.txt.large', text: 'x'.repeat(40 << 20) },
    ],
  ];
  for (const [what, entry] of cases) {
    await t.test(what, async (t) => {
      const path = await bundleIn(t, [...entries, entry, { name: 'x/after', text: 'after' }]);
      const root = join(dirname(path), 'out');
      mkdirSync(root);
      const { code, out, err } = await sno(['analyze', path, '--to', join(root, 'a/b')]);
      t.equal(code, 0, err);
      t.match(out, VERDICT);
      t.notMatch(`${out}${err}`.replaceAll('\n', ''), /\p{Cc}/u);
      t.strictSame(readdirSync(root), ['a']);
      t.strictSame(readdirSync(join(root, 'a')), ['b']);
      t.equal(readFileSync(join(root, 'a/b/after'), 'utf8'), 'after');
      t.equal(statSync(join(root, 'a/b/report.html')).isFile(), true);
      t.notOk(existsSync('/tmp/sno-analyze-escaped'));
      const found = readdirSync(join(root, 'a/b'), { recursive: true, withFileTypes: true });
      t.ok(found.every((one) => one.isFile() || one.isDirectory()));
    });
  }
});

t.test('in a folder, links are not followed', async (t) => {
  const folder = t.testdir({ 'gather.log': '', outside: { 'df.json': '[]' } });
  mkdirSync(join(folder, 'bootstrap/network'), { recursive: true });
  writeFileSync(join(folder, 'secret'), 'hostname-of-another-file\n');
  symlinkSync(join(folder, 'secret'), join(folder, 'bootstrap/network/hostname.txt'));
  symlinkSync(join(folder, 'outside'), join(folder, 'bootstrap/disks'));
  const { code, out } = await sno(['analyze', folder, '--json']);
  t.equal(code, 0);
  t.notMatch(out, 'hostname-of-another-file');
  const { report } = await analysis(folder);
  t.equal(report.verdict.sentence, 'There is nothing to judge: no source could be read.');
});

t.test('which files of a bundle are analysed', async (t) => {
  const M = 'control-plane/master';
  const table: [path: string, isRead: boolean][] = [
    [`${M}/journals/kubelet.log`, true],
    [`${M}/journals/journal.log.gz`, false],
    ['bootstrap/steps/bootkube.jsonl', true],
    ['log-bundle-bootstrap/bootstrap/steps/bootkube.jsonl', true],
    ['log-bundle-bootstrap/resources/pods.json', true],
    ['journals/kubelet.log', true],
    [`${M}/containers/etcd-1.log`, false],
    [`${M}/containers/tails/etcd-1.log`, true],
    [`${M}/containers/containers.json`, true],
    ['resources/pods.json', true],
    ['resources/pod-logs/a/b/c.log', false],
    ['rendered-assets/manifests/proc/x.yaml', false],
    [`${M}/os-release.txt`, true],
    ['gather.log', false],
  ];
  for (const [path, isRead] of table) t.equal(isReportInput(path), isRead, path);
});

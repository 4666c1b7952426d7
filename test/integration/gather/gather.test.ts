import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { z } from 'zod';
import { hostPaths } from '../../../lib/host/paths.ts';
import { gatherHere } from '../../unit/gather/in-process.ts';
import { line, type Synthetic } from '../../unit/gather/synthetic.ts';
import { GatherTester, listed, unpacked } from '../../unit/gather/tester.ts';

const MIB = 2 ** 20;
const recordSchema = z.strictObject({
  schemaVersion: z.literal(1),
  id: z.string(),
  version: z.string(),
  stage: z.enum(['live', 'installed']),
  hostName: z.string(),
  begunAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
  since: z.iso.datetime().nullable(),
  only: z.array(z.string()),
  interrupted: z.string().nullable(),
  encrypted: z.literal(false),
  sources: z.array(
    z.strictObject({
      path: z.string(),
      seconds: z.number(),
      bytes: z.number(),
      leftOut: z.number(),
      failure: z.string().optional(),
    }),
  ),
});

/** The archive with this id in the tester's home. */
const archiveOf = ({ home }: GatherTester, id: string) => join(home, `log-bundle-${id}.tar.gz`);

function recordOf(archive: string, id: string) {
  const text = unpacked(archive, `log-bundle-${id}/gather.json`);
  return recordSchema.parse(JSON.parse(text));
}

const failuresOf = ({ sources }: z.infer<typeof recordSchema>) =>
  Object.fromEntries(
    sources.flatMap(({ path, failure }) => (failure === undefined ? [] : [[path, failure]])),
  );

// Starts many processes and writes megabytes, possibly on a busy machine.
t.setTimeout(300_000);

t.test('failures are recorded with their reasons and stop nothing', async (t) => {
  const tester = new GatherTester(t);
  const sources: Synthetic[] = [
    { path: 'good.txt', does: 'text', text: 'good\n' },
    { path: 'empty.txt', does: 'text', text: '' },
    { path: 'fails.txt', does: 'fails', text: 'half\n' },
    { path: 'throws.txt', does: 'throws' },
    { path: 'hangs.txt', does: 'hangs', text: 'so far\n', deadlineMs: 200 },
    { path: 'deaf.txt', does: 'deaf', text: 'so far\n', deadlineMs: 200 },
    { path: 'bulk/deaf.log', does: 'deaf', text: 'so far\n', deadlineMs: 200, phase: 'bulk' },
    { path: 'bulk/good.log', does: 'text', text: 'good\n', phase: 'bulk' },
    { path: 'good.txt', does: 'text', text: 'another\n' },
    { path: '../escape.txt', does: 'text', text: 'x\n' },
    { path: '/etc/escape.txt', does: 'text', text: 'x\n' },
    { path: 'a//b', does: 'text', text: 'x\n' },
    { path: 'line\nof its own', does: 'text', text: 'x\n' },
    { path: 'n'.repeat(300), does: 'text', text: 'x\n' },
    { path: 'bad.yaml', does: 'text', text: 'a: [\n', format: 'json' },
    { path: 'bad.json', does: 'text', text: '{"a":', format: 'json' },
    { path: 'deaf.json', does: 'deaf', text: '{"a":', format: 'json', deadlineMs: 200 },
    {
      path: 'endless.json',
      does: 'deaf',
      text: '{}\n'.repeat(3 << 20),
      format: 'json',
      deadlineMs: 500,
    },
    { path: 'good.json', does: 'text', text: '{"a":1}\n', format: 'json' },
  ];
  const { code, stdout, stderr } = await gatherHere(
    tester,
    ['gather', '--id', 'x', 'localhost', '192.0.2.77'],
    sources,
  );
  t.equal(code, 0, stderr);
  const archive = archiveOf(tester, 'x');
  t.equal(stdout.toString().trimEnd().split('\n').at(-1), `Log bundle written to ${archive}`);
  t.match(
    stdout.toString(),
    /sources failed or are not complete; gather.log has all:\n {2}control-plane\/192.0.2.77: another host/,
  );
  t.match(
    stderr,
    /^Looking .*\nCollecting the input of the report: \d+ sources\nWriting the report\n/,
  );
  const names = listed(archive);
  t.ok(
    names[0]?.startsWith('log-bundle-x/SUMMARY') || names[0]?.startsWith('log-bundle-x/report'),
    'the report is first',
  );
  t.ok(names.indexOf('log-bundle-x/good.txt') < names.indexOf('log-bundle-x/bulk/good.log'));
  t.strictSame(
    names.slice(-2),
    ['log-bundle-x/gather.log', 'log-bundle-x/gather.json'],
    'the log is last',
  );
  t.ok(names.every((name) => name.startsWith('log-bundle-x/') && !name.includes('..')));
  for (const [name, text] of [
    ['good.txt', 'good\n'],
    ['fails.txt', 'half\n'],
    ['hangs.txt', 'so far\n'],
    ['bulk/good.log', 'good\n'],
    ['bad.yaml', 'a: [\n'],
    ['bad.json', '{"a":'],
    ['good.json', '{"a":1}\n'],
  ] as const) {
    t.equal(unpacked(archive, `log-bundle-x/${name}`), text, name);
  }
  const record = recordOf(archive, 'x');
  t.match(record, {
    id: 'x',
    stage: 'installed',
    hostName: hostname(),
    since: null,
    interrupted: null,
    encrypted: false,
  });
  t.match(failuresOf(record), {
    'fails.txt': 'the disk is on fire',
    'throws.txt': 'it does not even begin',
    'hangs.txt': 'not complete after 0.2 s',
    'deaf.txt': 'not complete after 0.2 s',
    'bulk/deaf.log': 'not complete after 0.2 s',
    'good.txt': undefined,
    '../escape.txt': 'not a valid path in a bundle',
    'control-plane/192.0.2.77': /another host.* run installer-gather.sh there/,
  });
  t.strictSame(record.sources.filter(({ path }) => path === 'good.txt').length, 1);
  const log = unpacked(archive, 'log-bundle-x/gather.log');
  t.match(log, /^Log bundle x of .* installed host/);
  t.match(log, /^FAILED +\d+\.\d{3} s +5 bytes {2}fails.txt: the disk is on fire$/m);
  t.match(log, /^ok +\d+\.\d{3} s +5 bytes {2}good.txt$/m);
  t.equal(log.split('\n').length, record.sources.length + 6, 'one line each');
  t.strictSame(
    readdirSync(join(tester.root, 'var/tmp')),
    [],
    'nothing is left where it was collected',
  );
});

t.test('groups: only those requested, and one that fails', async (t) => {
  const tester = new GatherTester(t);
  const listing = { deadlineMs: 200 };
  const catalogue = [
    { ...listing, name: 'fails', list: () => Promise.reject(new Error('no such thing')) },
    {
      ...listing,
      name: 'throws',
      list: () => {
        throw new Error('at once');
      },
    },
    { ...listing, name: 'deaf', list: () => new Promise<never>(() => undefined) },
    { ...listing, name: 'empty', list: async () => [] },
  ];
  const all = await gatherHere(tester, ['gather', '--id', 'all'], [], { catalogue });
  t.equal(all.code, 0);
  t.match(failuresOf(recordOf(archiveOf(tester, 'all'), 'all')), {
    fails: 'no such thing',
    throws: 'at once',
    deaf: 'not listed after 0.2 s',
    empty: undefined,
  });
  await gatherHere(
    tester,
    ['gather', '--id', 'some', '--only', 'empty,fails', '--since', '2h'],
    [],
    { catalogue },
  );
  const some = recordOf(archiveOf(tester, 'some'), 'some');
  t.strictSame(Object.keys(failuresOf(some)), ['fails']);
  t.strictSame(some.only, ['empty', 'fails']);
  t.ok(Math.abs(Date.parse(some.since ?? '') - (Date.now() - 7_200_000)) < 60_000);
});

t.test(
  'a limit: journals lose their oldest part, the oldest journal first; other files are kept',
  async (t) => {
    const tester = new GatherTester(t);
    const journal = { does: 'lines', phase: 'bulk', gzipped: true, bytes: 6 * MIB } as const;
    const sources: Synthetic[] = [
      { ...journal, path: 'journals/journal-1.log.gz', givesWay: 2 },
      { ...journal, path: 'journals/journal.log.gz', givesWay: 1 },
      { path: 'unit.log', does: 'lines', bytes: 100_000 },
      { path: 'containers/a.log', does: 'lines', phase: 'bulk', bytes: MIB },
      { path: 'containers/b.log', does: 'lines', phase: 'bulk', bytes: MIB },
    ];
    await gatherHere(tester, ['gather', '--id', 'all'], sources);
    const whole = statSync(archiveOf(tester, 'all')).size;
    const complete = recordOf(archiveOf(tester, 'all'), 'all');
    t.ok(complete.sources.every(({ leftOut }) => leftOut === 0));
    t.ok(complete.sources.every(({ bytes }) => bytes > 0));
    for (const share of [0.75, 0.4]) {
      const id = `limited-${share}`;
      const limitMiB = ((whole / MIB) * share).toFixed(3);
      await gatherHere(tester, ['gather', '--id', id, '--limit', limitMiB], sources);
      const archive = archiveOf(tester, id);
      t.ok(statSync(archive).size <= Number(limitMiB) * MIB, 'the archive keeps the limit');
      t.ok(statSync(archive).size >= Number(limitMiB) * MIB * 0.6, 'and makes use of it');
      const record = recordOf(archive, id);
      const of = (path: string) => record.sources.find((source) => source.path === path);
      for (const path of ['unit.log', 'containers/a.log', 'containers/b.log'])
        t.match(of(path), { leftOut: 0 });
      const older = of('journals/journal-1.log.gz');
      const newer = of('journals/journal.log.gz');
      t.ok((older?.leftOut ?? 0) > 0 || older?.failure !== undefined, 'the older one gives way');
      if (share > 0.5) t.match(newer, { leftOut: 0 });
      else t.ok((newer?.leftOut ?? 0) > 0, 'then this one');
      t.match(unpacked(archive, `log-bundle-${id}/gather.log`), /bytes were left out|size limit/);
      const packed = join(tester.root, 'packed');
      await gatherHere(
        tester,
        ['gather', '--id', id, '--limit', limitMiB, '--to', `${packed}/`],
        sources,
      );
      const text = gunzipSync(readFileSync(join(packed, 'journals/journal.log.gz'))).toString();
      t.ok(text.endsWith(line(Math.ceil((6 * MIB) / 100) - 1)), 'its newest part is there');
    }
    const tiny = await gatherHere(tester, ['gather', '--id', 'tiny', '--limit', '0.001'], sources);
    t.equal(tiny.code, 0);
    t.match(failuresOf(recordOf(archiveOf(tester, 'tiny'), 'tiny')), { 'unit.log': /size limit/ });
  },
);

t.test('the overall deadline: the bundle is closed with what was collected', async (t) => {
  const tester = new GatherTester(t, {
    gatherMs: 6000,
    gatherDiagnosisMs: 3000,
    gatherConcurrency: 2,
  });
  const sources: Synthetic[] = [
    { path: 'one.txt', does: 'text', text: 'one\n' },
    { path: 'deaf.txt', does: 'deaf', text: 'so far\n' },
    { path: 'drips.txt', does: 'drips' },
    { path: 'late.txt', does: 'text', text: 'late\n' },
    { path: 'drips.log', does: 'drips', phase: 'bulk' },
    { path: 'journal.log.gz', does: 'drips', phase: 'bulk', gzipped: true, givesWay: 1 },
    { path: 'late.log', does: 'text', text: 'late\n', phase: 'bulk' },
  ];
  const began = performance.now();
  const { code, stdout } = await gatherHere(tester, ['gather', '--id', 'x'], sources);
  t.ok(performance.now() - began < 30_000);
  t.equal(code, 0);
  t.match(stdout.toString(), /^Ended early: the deadline for the bundle, 6 s, passed$/m);
  const archive = archiveOf(tester, 'x');
  t.match(failuresOf(recordOf(archive, 'x')), {
    'one.txt': undefined,
    'deaf.txt': 'not complete: the deadline for the input of the report, 3 s, passed',
    'drips.txt': /^not complete: the deadline for the input of the report/,
    'late.txt': /^not started: the deadline for the input of the report/,
    'drips.log': /^not complete: the deadline for the bundle/,
    'journal.log.gz': /^not complete: the deadline for the bundle/,
    'late.log': /^not started: the deadline for the bundle/,
  });
  t.match(unpacked(archive, 'log-bundle-x/drips.log'), line(0));
  t.match(recordOf(archive, 'x').interrupted, /the deadline for the bundle/);
});

t.test('on a slow host, each source and group may have more time', async (t) => {
  const tester = new GatherTester(t, { gatherPatiencePercent: 300 });
  const hanging: Synthetic = {
    path: 'hangs.txt',
    does: 'hangs',
    text: 'so far\n',
    deadlineMs: 100,
  };
  const deaf = { name: 'deaf', deadlineMs: 100, list: () => new Promise<never>(() => undefined) };
  await gatherHere(tester, ['gather', '--id', 'one'], [hanging]);
  await gatherHere(tester, ['gather', '--id', 'groups'], [], { catalogue: [deaf] });
  t.match(failuresOf(recordOf(archiveOf(tester, 'one'), 'one')), {
    'hangs.txt': 'not complete after 0.3 s',
  });
  t.match(failuresOf(recordOf(archiveOf(tester, 'groups'), 'groups')), {
    deaf: 'not listed after 0.3 s',
  });
});

t.test('invalid settings are reported and ignored', async (t) => {
  const tester = new GatherTester(t);
  const path = join(hostPaths(tester.root).config, 'settings.json');
  writeFileSync(path, '{"gatherMs": "soon"}');
  t.equal((await gatherHere(tester, ['gather', '--id', 'x'], [])).code, 0);
  t.match(failuresOf(recordOf(archiveOf(tester, 'x'), 'x')), {
    settings: /defaults were used: .*gatherMs/,
  });
});

t.test('hosts of both stages', async (t) => {
  const tester = new GatherTester(t);
  mkdirSync(hostPaths(tester.root).assets, { recursive: true });
  await gatherHere(tester, ['gather', '--id', 'live'], []);
  t.equal(recordOf(archiveOf(tester, 'live'), 'live').stage, 'live');
  writeFileSync(join(hostPaths(tester.root).config, 'cluster-id'), 'x');
  await gatherHere(tester, ['gather', '--id', 'installed'], []);
  t.equal(recordOf(archiveOf(tester, 'installed'), 'installed').stage, 'installed');
});

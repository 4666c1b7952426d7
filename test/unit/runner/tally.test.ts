import { Readable } from 'node:stream';
import t from 'tap';
import { type TallyEvents, tallyFiles } from '../../runner/tally.ts';

async function tally(...lines: string[]) {
  const seen: string[] = [];
  const events: TallyEvents = {
    onFile: (name, { passed, failed, skipped }) =>
      seen.push(`file ${name}: ${passed} ${failed} ${skipped}`),
    onFailure: (name) => seen.push(`failure ${name}`),
    onSkip: (name, reason) => seen.push(`skip ${name}: ${reason}`),
  };
  const tap = Readable.from([`${['TAP version 14', ...lines].join('\n')}\n`]);
  return { tally: await tallyFiles('a.test.ts', tap, events), seen };
}

t.test('assertions count where they are made', async (t) => {
  const counted = await tally(
    'ok 1 - one',
    '# Subtest: inner',
    '    ok 1 - two',
    '    not ok 2 - three',
    '    1..2',
    'not ok 2 - inner',
    'ok 3 - four # SKIP no network',
    '1..3',
  );
  t.strictSame(counted, {
    tally: { passed: 2, failed: 1, skipped: 1 },
    seen: [
      'failure a.test.ts > inner > three',
      'skip a.test.ts > four: no network',
      'file a.test.ts: 2 1 1',
    ],
  });
});

const failures = {
  'a file that made no assertion': ['1..0'],
  'a file without a plan': [],
  'a file with fewer assertions than planned': ['ok 1 - one', '1..2'],
  'a subtest that was cut off': ['# Subtest: inner', '    ok 1 - two'],
  'a stream that bails out': ['Bail out! no memory'],
};
for (const [what, lines] of Object.entries(failures)) {
  t.test(`${what} counts as a failure`, async (t) => {
    const { tally: counted, seen } = await tally(...lines);
    t.equal(counted.failed, 1);
    t.match(seen.join(), /failure a\.test\.ts/);
  });
}

t.test('a file skipped as a whole counts as one skipped', async (t) => {
  const { tally: counted, seen } = await tally('1..0 # skip not installed');
  t.strictSame(counted, { passed: 0, failed: 0, skipped: 1 });
  t.strictSame(seen, ['skip a.test.ts: not installed', 'file a.test.ts: 0 0 1']);
});

t.test('files that share a process are counted separately', async (t) => {
  const counted = await tally(
    '# file a.test.ts',
    'ok 1 - one',
    '# an ordinary comment',
    '# file b.test.ts',
    '# Subtest: inner',
    '    not ok 1 - two',
    '    1..1',
    'not ok 2 - inner',
    '1..2',
  );
  t.strictSame(counted, {
    tally: { passed: 1, failed: 1, skipped: 0 },
    seen: ['file a.test.ts: 1 0 0', 'failure b.test.ts > inner > two', 'file b.test.ts: 0 1 0'],
  });
});

t.test('a file between others without an assertion is one that fails', async (t) => {
  const { tally: counted, seen } = await tally(
    '# file a.test.ts',
    'ok 1 - one',
    '# file b.test.ts',
    '# file c.test.ts',
    'ok 2 - two',
    '1..2',
  );
  t.strictSame(counted, { passed: 2, failed: 1, skipped: 0 });
  t.same(seen.slice(1, 3), ['failure b.test.ts', 'file b.test.ts: 0 1 0']);
});

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

t.test('a test is one case, and each of its faults is shown', async (t) => {
  const counted = await tally(
    'ok 1 - one',
    '# Subtest: inner',
    '    ok 1 - two',
    '    not ok 2 - three',
    '    not ok 3 - four',
    '    1..3',
    'not ok 2 - inner',
    '# Subtest: whole',
    '    ok 1 - five',
    '    ok 2 - six # SKIP no network',
    '    1..2',
    'ok 3 - whole',
    'ok 4 - seven # SKIP no network',
    '1..4',
  );
  t.strictSame(counted, {
    tally: { passed: 2, failed: 1, skipped: 2 },
    seen: [
      'failure a.test.ts > inner > three',
      'failure a.test.ts > inner > four',
      'skip a.test.ts > whole > six: no network',
      'skip a.test.ts > seven: no network',
      'file a.test.ts: 2 1 2',
    ],
  });
});

t.test('a test around others counts by these, and by a fault of its own', async (t) => {
  const around = (own: string) =>
    tally(
      '# Subtest: around',
      '    # Subtest: a',
      '        ok 1 - one',
      '        ok 2 - two',
      '        1..2',
      '    ok 1 - a',
      '    ok 2 - b # SKIP no network',
      `    ${own} 3 - own`,
      '    1..3',
      `${own} 1 - around`,
      '1..1',
    );
  t.same((await around('ok')).tally, { passed: 1, failed: 0, skipped: 1 });
  t.same((await around('not ok')).tally, { passed: 1, failed: 1, skipped: 1 });
});

t.test('a test that fails without a failed assertion is a case that fails', async (t) => {
  const counted = await tally(
    '# Subtest: inner',
    '    ok 1 - two',
    '    1..2',
    'not ok 1 - inner',
    '1..1',
  );
  t.same(counted.tally, { passed: 0, failed: 1, skipped: 0 });
  t.same(counted.seen.filter((text) => text.startsWith('failure')).length, 1);
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

import { Readable } from 'node:stream';
import t from 'tap';
import { type TallyEvents, tallyTap } from '../../runner/tally.ts';

const file = (...lines: string[]) =>
  ['TAP version 14', '# Subtest: a.test.ts', ...lines.map((line) => `    ${line}`)].join('\n');

async function tally(tap: string) {
  const seen: string[] = [];
  const events: TallyEvents = {
    onFile: (name) => seen.push(`file ${name}`),
    onFailure: (name) => seen.push(`failure ${name}`),
    onSkip: (name, reason) => seen.push(`skip ${name}: ${reason}`),
  };
  return { tally: await tallyTap(Readable.from([tap]), events), seen };
}

t.test('assertions count where they were made', async (t) => {
  const tap = [
    file('ok 1 - one', '# Subtest: inner', '    ok 1 - two', '    not ok 2 - three', '    1..2'),
    '    not ok 2 - inner',
    '    ok 3 - four # SKIP no network',
    '    1..3',
    'not ok 1 - a.test.ts',
    '1..1',
    '',
  ].join('\n');
  t.strictSame(await tally(tap), {
    tally: { passed: 2, failed: 1, skipped: 1 },
    seen: [
      'failure a.test.ts > inner > three',
      'skip a.test.ts > four: no network',
      'file a.test.ts',
    ],
  });
});

const failures = {
  'a file that crashed after its assertions': [
    file('ok 1 - one', '1..1'),
    'not ok 1 - a.test.ts',
    '1..1',
  ],
  'a file that made no assertion and failed': [file('1..0'), 'not ok 1 - a.test.ts', '1..1'],
  'a file with fewer assertions than planned': [
    file('ok 1 - one', '1..2'),
    'ok 1 - a.test.ts',
    '1..1',
  ],
  'a stream that was cut off': ['TAP version 14', 'ok 1 - a.test.ts'],
  'a stream that bails out': ['TAP version 14', 'Bail out! no memory'],
};
for (const [what, lines] of Object.entries(failures)) {
  t.test(`${what} counts as a failure`, async (t) => {
    t.equal((await tally(`${lines.join('\n')}\n`)).tally.failed, 1);
  });
}

t.test('a file skipped as a whole counts as one skipped', async (t) => {
  const { tally: counted, seen } = await tally(
    `${[file('1..0 # skip not installed'), 'ok 1 - a.test.ts # SKIP not installed', '1..1'].join('\n')}\n`,
  );
  t.strictSame(counted, { passed: 0, failed: 0, skipped: 1 });
  t.strictSame(seen, ['skip a.test.ts: not installed', 'file a.test.ts']);
});

import t from 'tap';
import { noticedIn } from '../../mutation/noticed.ts';
import type { TestRun } from '../../mutation/run-tests.ts';

/** Outcome and duration, as a test file gives them one after the other. */
type Given = readonly [outcome: TestRun['outcome'], durationMs: number];

/** What is concluded about a test that usually takes one second, and how often it was run. */
async function judged(mutated: readonly Given[], unchanged: readonly Given[]) {
  const deadlines: number[] = [];
  const taking = (given: readonly Given[]) => {
    const left = given.values();
    return async (deadlineMs: number): Promise<TestRun> => {
      const [outcome, durationMs] = left.next().value ?? [];
      if (outcome === undefined || durationMs === undefined) throw new Error('one run too many');
      if (given === mutated) deadlines.push(deadlineMs);
      return { outcome, durationMs, output: '' };
    };
  };
  const fate = await noticedIn(
    { durationMs: 1000 },
    { mutated: taking(mutated), unchanged: taking(unchanged) },
  );
  return { fate, deadlines };
}

t.test('a test that passes notices nothing, one that fails early notices the mutant', async (t) => {
  t.match(await judged([['passed', 1000]], []), { fate: undefined });
  t.match(await judged([['failed', 900]], []), { fate: 'killed' });
});

t.test(
  'a late failure and a time-out count if the unchanged code passes at its usual pace',
  async (t) => {
    t.match(await judged([['failed', 9000]], [['passed', 1100]]), { fate: 'killed' });
    t.match(await judged([['timeout', 15_000]], [['passed', 1800]]), { fate: 'timeout' });
  },
);

t.test('a machine that is too slow for the unchanged code gets more time', async (t) => {
  const run = await judged(
    [
      ['timeout', 15_000],
      ['passed', 17_000],
    ],
    [['passed', 4000]],
  );
  t.strictSame(run, { fate: undefined, deadlines: [15_000, 32_000] });
  const endless = await judged(
    [
      ['timeout', 15_000],
      ['timeout', 32_000],
    ],
    [
      ['passed', 4000],
      ['passed', 4000],
    ],
  );
  t.strictSame(endless, { fate: 'timeout', deadlines: [15_000, 32_000] });
});

t.test('a machine on which the unchanged code fails notices no mutant', async (t) => {
  const late: Given = ['timeout', 15_000];
  const broken: Given = ['failed', 900];
  t.match(await judged([late, late, late], [broken, broken, broken]), { fate: undefined });
});

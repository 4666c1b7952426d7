import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describeError } from '../../lib/errors/failure.ts';
import { emptyTally, type Tally, type TallyEvents, tallyTap } from './tally.ts';
import type { Tier } from './tiers.ts';

/**
 * Runs a tier's test files by tap and counts their assertions. A tier without test files
 * has failed, and so has one in which tap fails although each assertion passed.
 */
export async function runTier(
  root: string,
  tier: Tier,
  events: TallyEvents,
  signal: AbortSignal,
): Promise<Tally> {
  const files = await Array.fromAsync(glob(`test/${tier.name}/**/*.test.ts`, { cwd: root }));
  if (files.length === 0) {
    const tally = emptyTally();
    fail(tally, events, `no test file is in test/${tier.name}`);
    return tally;
  }
  const tap = execa(
    process.execPath,
    [
      join(root, 'node_modules/tap/dist/esm/run.mjs'),
      '--reporter=tap',
      `--timeout=${tier.fileDeadlineSeconds}`,
      `--jobs=${tier.jobs}`,
      ...files.sort(),
    ],
    {
      cwd: root,
      reject: false,
      buffer: false,
      stderr: 'inherit',
      timeout: tier.deadlineMinutes * 60_000,
      cancelSignal: signal,
    },
  );
  const [tally, result] = await Promise.all([tallyTap(tap.stdout, events), tap]);
  const found = tally.passed + tally.failed + tally.skipped;
  if (found === 0) {
    fail(tally, events, `no test ran: ${describeError(result)}`);
  } else if (result.failed && tally.failed === 0) {
    fail(tally, events, describeError(result));
  }
  return tally;
}

function fail(tally: Tally, events: TallyEvents, why: string): void {
  tally.failed += 1;
  events.onFailure('tap', why);
}

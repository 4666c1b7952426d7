import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describeError } from '../../lib/errors/failure.ts';
import { addTally, emptyTally, type Tally, type TallyEvents, tallyFile } from './tally.ts';
import type { Tier } from './tiers.ts';

export interface TierRun {
  readonly root: string;
  /** Of this tier, from the root; all of them where none is named. */
  readonly files: readonly string[];
  readonly events: TallyEvents;
  readonly signal: AbortSignal;
}

/**
 * Runs a tier's test files, each in a process of its own, and counts their assertions. A test file
 * is a program that prints TAP, so Node alone runs it: the loaders and plugins of tap's command
 * line cost each file a second of processor time. A tier without test files has failed.
 */
export async function runTier(tier: Tier, run: TierRun): Promise<Tally> {
  const total = emptyTally();
  const waiting = run.files.length > 0 ? [...run.files] : await filesOf(tier, run.root);
  if (waiting.length === 0) {
    total.failed += 1;
    run.events.onFailure(tier.name, `no test file is in test/${tier.name}`);
  }
  const deadline = AbortSignal.timeout(tier.deadlineMinutes * 60_000);
  const signal = AbortSignal.any([run.signal, deadline]);
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (signal.aborted) return;
      addTally(total, await runFile(file, tier, { ...run, signal }));
    }
  };
  await Promise.all(Array.from({ length: tier.jobs }, work));
  if (signal.aborted) {
    total.failed += 1;
    run.events.onFailure(tier.name, 'stopped before all its files were run');
  }
  return total;
}

export async function filesOf({ name }: Tier, root: string): Promise<string[]> {
  return (await Array.fromAsync(glob(`test/${name}/**/*.test.ts`, { cwd: root }))).toSorted();
}

async function runFile(file: string, tier: Tier, run: TierRun): Promise<Tally> {
  const { root, events, signal } = run;
  const child = execa(process.execPath, ['--enable-source-maps', join(root, file)], {
    cwd: root,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stderr: 'inherit',
    env: {
      TAP_TIMEOUT: String(tier.fileDeadlineSeconds),
      // Hundreds of processes load the same modules.
      NODE_COMPILE_CACHE: join(root, 'dist/compile-cache'),
    },
    // tap itself ends a test at its deadline, and says which; this is for one that hangs.
    timeout: tier.fileDeadlineSeconds * 1000 + 30_000,
    cancelSignal: signal,
  });
  const [tally, result] = await Promise.all([tallyFile(file, child.stdout, events), child]);
  if (result.failed && tally.failed === 0) {
    tally.failed += 1;
    events.onFailure(file, describeError(result));
  }
  events.onFile(file, tally);
  return tally;
}

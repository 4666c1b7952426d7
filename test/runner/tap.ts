import { glob, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describeError } from '../../lib/base/errors/failure.ts';
import { memoryFolder } from './memory-folder.ts';
import { addTally, emptyTally, type Tally, type TallyEvents, tallyFiles } from './tally.ts';
import type { Tier } from './tiers.ts';

export interface TierRun {
  readonly root: string;
  /** Test files of this tier, relative to the root; all if none is named. */
  readonly files: readonly string[];
  readonly events: TallyEvents;
  readonly signal: AbortSignal;
}

/** Folders with fewer test files share a process, since loading their imports takes up to two seconds. */
const FILES_PER_PROCESS = 100;

/** Short-lived objects take up to 190 MiB otherwise, and a large process takes longer to start each program. */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=4';

/** Test files run by one process. */
interface Batch {
  /** Names the fixture folder and reported failures: the first folder of the files, or the file. */
  readonly name: string;
  readonly files: readonly [string, ...string[]];
}

/**
 * Runs a tier's test files and counts their test cases. A test file is a program that prints TAP, so
 * Node runs it directly: the loaders and plugins of tap's command line cost each file a second of
 * processor time. Unit tests share processes (test/runner/batch.ts), since loading their imports took
 * as long as running them. A tier without test files fails.
 */
export async function runTier(tier: Tier, run: TierRun): Promise<Tally> {
  const total = emptyTally();
  const files = run.files.length > 0 ? run.files : await filesOf(tier, run.root);
  if (files.length === 0) {
    total.failed += 1;
    run.events.onFailure(tier.name, `no test file is in test/${tier.name}`);
  }
  const deadline = AbortSignal.timeout(tier.deadlineMinutes * 60_000);
  const signal = AbortSignal.any([run.signal, deadline]);
  const waiting = batchesOf(files, tier);
  const memory = tier.writesToMemory ? await memoryFolder() : undefined;
  const work = async () => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      if (signal.aborted) return;
      addTally(total, await runBatch(batch, tier, { ...run, signal, memory }));
    }
  };
  await Promise.all(Array.from({ length: tier.jobs }, work));
  if (memory !== undefined) await rm(memory, { recursive: true, force: true });
  if (signal.aborted) {
    total.failed += 1;
    run.events.onFailure(tier.name, 'stopped before all its files were run');
  }
  return total;
}

export async function filesOf({ name }: Tier, root: string): Promise<string[]> {
  return (await Array.fromAsync(glob(`test/${name}/**/*.test.ts`, { cwd: root }))).toSorted();
}

/** Largest batches first, so that no long one is left at the end. */
function batchesOf(files: readonly string[], { filesShareProcess }: Tier): Batch[] {
  if (!filesShareProcess) return files.map((file) => ({ name: file, files: [file] }));
  const folders = [...Map.groupBy(files, (file) => dirname(file))].toSorted(
    ([, a], [, b]) => b.length - a.length,
  );
  const batches: { name: string; files: [string, ...string[]] }[] = [];
  for (const [name, [first, ...others]] of folders) {
    if (first === undefined) continue;
    const last = batches.at(-1);
    if (last !== undefined && last.files.length + others.length < FILES_PER_PROCESS) {
      last.files.push(first, ...others);
    } else {
      batches.push({ name, files: [first, ...others] });
    }
  }
  return batches.toSorted((a, b) => b.files.length - a.files.length);
}

async function runBatch(
  { name, files }: Batch,
  tier: Tier,
  { root, events, signal, memory }: TierRun & { memory: string | undefined },
): Promise<Tally> {
  const program = tier.filesShareProcess
    ? [SMALL_YOUNG_GENERATION, join(root, 'test/runner/batch.ts'), name]
    : [join(root, name)];
  const { deadlineSeconds } = tier;
  const child = execa(process.execPath, program, {
    cwd: root,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stderr: 'inherit',
    env: {
      TAP_TIMEOUT: String(deadlineSeconds),
      // Hundreds of processes load the same modules.
      NODE_COMPILE_CACHE: join(root, 'dist/compile-cache'),
      ...(memory === undefined ? {} : { TMPDIR: memory }),
      ...(tier.filesShareProcess ? { TEST_FILES: files.join('\n') } : {}),
    },
    // tap itself ends a test at its deadline and names it; this is for a process that hangs.
    timeout: deadlineSeconds * 1000 + 30_000,
    cancelSignal: signal,
  });
  const [tally, result] = await Promise.all([tallyFiles(files[0], child.stdout, events), child]);
  if (result.failed && tally.failed === 0) {
    tally.failed += 1;
    events.onFailure(name, describeError(result));
  }
  return tally;
}

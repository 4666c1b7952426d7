import { join } from 'node:path';
import { type Covered, readCoverage } from './coverage.ts';
import { runTestFile } from './run-tests.ts';

/** A test file as it is without any mutation. */
export interface Baseline {
  readonly file: string;
  readonly durationMs: number;
  /** What it runs, by source file. */
  readonly covered: ReadonlyMap<string, readonly Covered[]>;
}

const DEADLINE_MS = 180_000;

/** What a test file says that fails without a mutation: it can tell nothing of mutants. */
export interface Broken {
  readonly file: string;
  readonly output: string;
}

/** Runs a test file in the unchanged tree, once more if it fails: other work on the machine can be why. */
export async function baselineOf(tree: string, file: string): Promise<Baseline | Broken> {
  const first = await attempt(tree, file);
  return 'output' in first ? await attempt(tree, file) : first;
}

async function attempt(tree: string, file: string): Promise<Baseline | Broken> {
  const folder = join(tree, '.coverage');
  const run = await runTestFile(tree, file, DEADLINE_MS, { NODE_V8_COVERAGE: folder });
  const covered = await readCoverage(folder, tree);
  if (run.outcome === 'passed') return { file, durationMs: run.durationMs, covered };
  return { file, output: `${run.outcome}:\n${run.output}` };
}

/** Whether the test file runs what stands at the offset. Text that is no program is read by all. */
export function reaches({ covered }: Baseline, file: string, offset: number): boolean {
  if (!file.endsWith('.ts')) return true;
  return (covered.get(file) ?? []).some((isCovered) => isCovered(offset));
}

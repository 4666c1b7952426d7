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

/** Runs a test file in the unchanged tree. Throws if it fails there. */
export async function baselineOf(tree: string, file: string): Promise<Baseline> {
  const folder = join(tree, '.coverage');
  const run = await runTestFile(tree, file, DEADLINE_MS, { NODE_V8_COVERAGE: folder });
  const covered = await readCoverage(folder, tree);
  if (run.outcome === 'passed') return { file, durationMs: run.durationMs, covered };
  throw new Error(`${file} ${run.outcome} without a mutation:\n${run.output}`);
}

/** Whether the test file runs what stands at the offset. Text that is no program is read by all. */
export function reaches({ covered }: Baseline, file: string, offset: number): boolean {
  if (!file.endsWith('.ts')) return true;
  return (covered.get(file) ?? []).some((isCovered) => isCovered(offset));
}

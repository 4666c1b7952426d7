import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Covered, readCoverage } from './coverage.ts';
import { runTestFile } from './run-tests.ts';

/** Result of a test file without any mutation. */
export interface Baseline {
  readonly file: string;
  readonly durationMs: number;
  /** The code that it executes, by source file. */
  readonly covered: ReadonlyMap<string, readonly Covered[]>;
  /** The files that it names in its own imports: it is probably about them. */
  readonly imports: ReadonlySet<string>;
}

const DEADLINE_MS = 180_000;

/** Output of a test file that fails without a mutation and so cannot detect mutants. */
export interface Broken {
  readonly file: string;
  readonly output: string;
}

/** Runs a test file in the unmodified tree, and once more if it fails: load on the machine can be the cause. */
export async function baselineOf(tree: string, file: string): Promise<Baseline | Broken> {
  const first = await attempt(tree, file);
  return 'output' in first ? await attempt(tree, file) : first;
}

async function attempt(tree: string, file: string): Promise<Baseline | Broken> {
  const folder = join(tree, '.coverage');
  const run = await runTestFile(tree, file, DEADLINE_MS, { NODE_V8_COVERAGE: folder });
  const covered = await readCoverage(folder, tree);
  if (run.outcome === 'passed') {
    const imports = importsIn(file, await readFile(join(tree, file), 'utf8'));
    return { file, durationMs: run.durationMs, covered, imports };
  }
  return { file, output: `${run.outcome}:\n${run.output}` };
}

const importsIn = (file: string, text: string): Set<string> =>
  new Set(
    Array.from(text.matchAll(/ from '(\.[^']+)'/g), ([, path = '']) => join(dirname(file), path)),
  );

/** Whether the test file executes the code at the offset. Files other than TypeScript count as used by all tests. */
export function reaches({ covered }: Baseline, file: string, offset: number): boolean {
  if (!file.endsWith('.ts')) return true;
  return (covered.get(file) ?? []).some((isCovered) => isCovered(offset));
}

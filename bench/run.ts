/**
 * `npm run bench [-- NAME...]`: measures this project against what it replaces, prints a
 * table and writes `bench/results.json`. Names run some of the benchmarks; none means all.
 *
 * A benchmark whose prerequisites are missing is listed and skipped, which is not a failure.
 * No figure fails it either: exit code 1 means that a benchmark could not be run.
 */
import { rm } from 'node:fs/promises';
import { createRunFolder } from '../lab/host/run-folder.ts';
import { EXIT } from '../lib/base/errors/exit-codes.ts';
import { describeError } from '../lib/base/errors/failure.ts';
import { type Benchmark, NotRunHere } from './benchmark.ts';
import { benchmarks } from './index.ts';
import { commit, machine } from './machine.ts';
import { type MeasuredBenchmark, writeResults } from './results.ts';
import { resultTable } from './table.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

async function measure(benchmark: Benchmark, interrupted: AbortSignal): Promise<MeasuredBenchmark> {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(benchmark.deadlineMs)]);
  const folder = await createRunFolder();
  try {
    const report = (line: string) => print(`  ${line}`);
    const { rows, versions } = await benchmark.run(signal, { folder, report });
    const { name, compares } = benchmark;
    const circumstances = { date: new Date().toISOString(), commit: await commit(), machine };
    return { name, compares, ...circumstances, versions, rows };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The exit code. */
async function run(chosen: readonly Benchmark[], interrupted: AbortSignal): Promise<number> {
  const outcomes = { measured: 0, failed: 0, skipped: 0 };
  for (const benchmark of chosen) {
    if (interrupted.aborted) break;
    print(`\n${benchmark.name}: ${benchmark.compares}`);
    try {
      const measured = await measure(benchmark, interrupted);
      await writeResults(measured);
      print(`\n${resultTable(measured.rows)}`);
      outcomes.measured += 1;
    } catch (error) {
      const isMissing = error instanceof NotRunHere;
      outcomes[isMissing ? 'skipped' : 'failed'] += 1;
      print(`  ${isMissing ? 'not run here' : 'FAILED'}: ${describeError(error)}`);
    }
  }
  print(
    `\n${outcomes.measured} measured, ${outcomes.failed} failed, ${outcomes.skipped} not run here`,
  );
  return outcomes.failed > 0 || interrupted.aborted ? EXIT.retryable : EXIT.done;
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !benchmarks.some((known) => known.name === name));
if (unknown.length > 0) {
  const known = benchmarks.map(({ name }) => name).join(', ');
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Known benchmarks: ${known}.\n`);
  process.exit(EXIT.usage);
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(name, () => stop.abort(new Error(`interrupted by ${name}`)));
}
process.exitCode = await run(
  benchmarks.filter(({ name }) => names.length === 0 || names.includes(name)),
  stop.signal,
);

import { join } from 'node:path';
import { z } from 'zod';
import { repository } from '../lab/paths.ts';
import { readTextIfPresent, writeFileAtomic } from '../lib/host/files.ts';

const spreadSchema = z.strictObject({ median: z.number(), min: z.number(), max: z.number() });

const measuredSchema = z.strictObject({
  name: z.string(),
  compares: z.string(),
  /** End of the measurement, RFC 3339. */
  date: z.string(),
  commit: z.string(),
  machine: z.strictObject({
    processor: z.string(),
    cores: z.number(),
    memoryGiB: z.number(),
    system: z.string(),
    node: z.string(),
  }),
  versions: z.record(z.string(), z.string()),
  rows: z
    .array(
      z.strictObject({
        what: z.string(),
        unit: z.string(),
        ours: spreadSchema,
        theirs: spreadSchema,
        ratio: z.number().nullable(),
        repetitions: z.number(),
        note: z.string().exactOptional(),
      }),
    )
    .readonly(),
});

/** One benchmark with the circumstances of its measurement. */
export type MeasuredBenchmark = z.input<typeof measuredSchema>;

const resultsSchema = z.strictObject({ benchmarks: z.array(measuredSchema) });
type Results = z.infer<typeof resultsSchema>;

export const resultsFile = join(repository, 'bench/results.json');

/**
 * Replaces a benchmark's earlier result with its new one. Benchmarks that were not run keep
 * theirs: each states when, of which commit and on what machine it was measured.
 */
export async function writeResults(measured: MeasuredBenchmark, path = resultsFile): Promise<void> {
  const { benchmarks } = await readResults(path);
  const others = benchmarks.filter(({ name }) => name !== measured.name);
  const sorted = [...others, measured].toSorted((a, b) => a.name.localeCompare(b.name));
  await writeFileAtomic(path, `${JSON.stringify({ benchmarks: sorted }, null, 2)}\n`, 0o644);
}

export async function readResults(path = resultsFile): Promise<Results> {
  const text = await readTextIfPresent(path);
  return text === undefined ? { benchmarks: [] } : resultsSchema.parse(JSON.parse(text));
}

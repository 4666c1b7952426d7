import type { Row, Spread } from './benchmark.ts';

/** What is measured and in which unit, without the figures. */
export type Quantity = Pick<Row, 'what' | 'unit' | 'note'>;

/** A row from samples of both sides; one sample is enough for what does not vary. */
export function compare(
  quantity: Quantity,
  ours: readonly number[],
  theirs: readonly number[],
): Row {
  const [left, right] = [spread(ours), spread(theirs)];
  return {
    ...quantity,
    ours: left,
    theirs: right,
    ratio: right.median === 0 ? null : left.median / right.median,
    repetitions: Math.min(ours.length, theirs.length),
  };
}

/** Median, minimum and maximum of at least one sample. */
export function spread(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const half = sorted.length / 2;
  const median = (at(Math.ceil(half) - 1) + at(Math.floor(half))) / 2;
  if (!samples.every(Number.isFinite) || samples.length === 0) {
    throw new RangeError(`samples must be finite numbers, found [${samples.join(', ')}]`);
  }
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/** The smallest sample that is not less than this share of all; at least one sample. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? Number.NaN;
}

/** One sample of each side. */
export interface Pair<T> {
  readonly ours: T;
  readonly theirs: T;
}

/**
 * Measures both sides in turns and alternates which is first, so that neither always
 * benefits from caches that the other has warmed.
 */
export async function interleaved<T>(
  repetitions: number,
  ours: (repetition: number) => Promise<T>,
  theirs: (repetition: number) => Promise<T>,
): Promise<Pair<T>[]> {
  const pairs: Pair<T>[] = [];
  for (let at = 0; at < repetitions; at++) {
    if (at % 2 === 0) {
      const first = await ours(at);
      pairs.push({ ours: first, theirs: await theirs(at) });
    } else {
      const first = await theirs(at);
      pairs.push({ ours: await ours(at), theirs: first });
    }
  }
  return pairs;
}

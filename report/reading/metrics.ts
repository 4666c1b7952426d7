import type { BundleView, Evidence } from '../bundle-view.ts';
import { evidence } from './evidence.ts';

/** Samples of one metric in Prometheus' text format. */
interface Sample {
  readonly labels: string;
  readonly value: number;
  readonly evidence: Evidence;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})? (\S+)/;

export interface Quantile {
  readonly seconds: number;
  readonly count: number;
  readonly evidence: Evidence;
}

export function gauge(view: BundleView, path: string, name: string): Sample | undefined {
  return samples(view, path, name)[0];
}

/**
 * A quantile of a histogram, as Prometheus' histogram_quantile estimates it: linear within the
 * bucket, and the lower bound of the last bucket if it is beyond all bounds.
 */
export function quantile(
  view: BundleView,
  path: string,
  name: string,
  share: number,
): Quantile | undefined {
  const buckets = samples(view, path, `${name}_bucket`)
    .map(({ labels, value, evidence: where }) => ({
      bound: Number(/le="([^"]+)"/.exec(labels)?.[1]?.replace('+Inf', 'Infinity')),
      value,
      where,
    }))
    .filter(({ bound }) => !Number.isNaN(bound))
    .toSorted((a, b) => a.bound - b.bound);
  const count = buckets.at(-1)?.value ?? 0;
  const rank = share * count;
  const index = buckets.findIndex(({ value }) => value >= rank);
  const bucket = buckets[index];
  if (count === 0 || bucket === undefined) return undefined;
  const below = buckets[index - 1];
  const [from, before] = [below?.bound ?? 0, below?.value ?? 0];
  const seconds =
    bucket.bound === Infinity
      ? from
      : from + (bucket.bound - from) * ((rank - before) / Math.max(1, bucket.value - before));
  return { seconds, count, evidence: bucket.where };
}

function samples(view: BundleView, path: string, name: string): Sample[] {
  return view.lines(path).flatMap((line, index) => {
    if (!line.startsWith(name)) return [];
    const [, found, labels = '', value] = SAMPLE.exec(line) ?? [];
    const number = Number(value);
    if (found !== name || Number.isNaN(number)) return [];
    return [{ labels, value: number, evidence: evidence(path, index + 1, line) }];
  });
}

import { METRICS, type Sample } from '../../../../lib/engine/metrics/metrics.ts';

const isMetric = (name: string): name is keyof typeof METRICS => Object.hasOwn(METRICS, name);

/** Two samples of every metric, with label values that have to be escaped. */
export function everySample(): Sample[] {
  return Object.keys(METRICS)
    .filter(isMetric)
    .flatMap((name) => {
      const labelled = (value: string) =>
        Object.fromEntries(METRICS[name].labels.map((label) => [label, value]));
      const all = [
        { name, labels: labelled('plain'), value: 1_893_456_000.5 },
        { name, labels: labelled('a "quoted" \\ back\nslash'), value: 0 },
      ];
      return METRICS[name].labels.length === 0 ? all.slice(0, 1) : all;
    });
}

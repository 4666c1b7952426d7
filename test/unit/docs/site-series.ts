import { z } from 'zod';

const paths = z.record(z.string(), z.array(z.string()));
const eachSchema = z.strictObject({
  path: z.array(z.string()).optional(),
  labelsFromPath: paths.optional(),
  valueFrom: z.array(z.string()).optional(),
});
/** As much of the configuration of kube-state-metrics as deploy/fleet/metrics uses; another word is an error. */
export const siteMetricsSchema = z.strictObject({
  kind: z.literal('CustomResourceStateMetrics'),
  spec: z.strictObject({
    resources: z.tuple([
      z.strictObject({
        groupVersionKind: z.record(z.string(), z.string()),
        resourcePlural: z.string(),
        metricNamePrefix: z.string(),
        errorLogV: z.int(),
        labelsFromPath: paths,
        metrics: z.array(
          z.strictObject({
            name: z.string(),
            help: z.string(),
            labelsFromPath: paths.optional(),
            each: z.union([
              z.strictObject({ type: z.literal('Gauge'), gauge: eachSchema }),
              z.strictObject({ type: z.literal('Info'), info: eachSchema }),
            ]),
          }),
        ),
      }),
    ]),
  }),
});
export type SiteMetrics = z.infer<typeof siteMetricsSchema>['spec']['resources'][0];
type Metric = SiteMetrics['metrics'][number];

export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const record = z.record(z.string(), z.unknown());
const LOOKUP = /^\[(\w+)=(.*)\]$/;

/** What kube-state-metrics has for that path (pkg/customresourcestate/registry_factory.go, compilePath). */
function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, part) => {
    const [, key, wanted] = LOOKUP.exec(part) ?? [];
    if (key === undefined) return record.safeParse(value).data?.[part];
    const list = z.array(record).safeParse(value).data ?? [];
    return list.find((each) => each[key] === wanted);
  }, object);
}

/** toFloat64 there, of what a Site has. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const text = String(value).toLowerCase();
  if (['true', 'false', 'unknown'].includes(text)) return Number(text === 'true');
  const ms = Date.parse(String(value));
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

function labelsAt(
  object: unknown,
  from: Readonly<Record<string, readonly string[]>> = {},
): Record<string, string> {
  const found = Object.entries(from).map(([label, path]) => [label, at(object, path)] as const);
  return Object.fromEntries(
    found.flatMap(([label, value]) => (value === undefined ? [] : [[label, String(value)]])),
  );
}

export const eachOf = ({ each }: Metric) => (each.type === 'Gauge' ? each.gauge : each.info);

/** What a Site looks like to Prometheus. */
export function seriesOf(config: SiteMetrics, site: unknown): Series[] {
  return config.metrics.flatMap((metric) => {
    const name = `${config.metricNamePrefix}_${metric.name}`;
    const common = labelsAt(site, { ...config.labelsFromPath, ...metric.labelsFromPath });
    const { path = [], labelsFromPath, valueFrom = [] } = eachOf(metric);
    const found = at(site, path);
    const values = Array.isArray(found) ? found : [found];
    return values.flatMap((each) => {
      const labels = { ...common, ...labelsAt(each, labelsFromPath) };
      if (metric.each.type === 'Info') return [{ name, labels, value: 1 }];
      const taken = at(each, valueFrom);
      const value = taken === undefined ? undefined : numberOf(taken);
      return value === undefined ? [] : [{ name, labels, value }];
    });
  });
}

import { METRICS, type MetricName, type Sample } from './metrics.ts';

/** The samples in Prometheus' text format (version 0.0.4), those of a metric together, in the order of the table. */
export function exposition(samples: readonly Sample[]): string {
  return metricNames
    .map((name) => ({ name, own: samples.filter((each) => each.name === name) }))
    .filter(({ own }) => own.length > 0)
    .map(({ name, own }) => `${head(name)}${own.map(line).join('')}`)
    .join('');
}

// The keys of a constant table are its names.
const metricNames = Object.keys(METRICS).filter((name): name is MetricName =>
  Object.hasOwn(METRICS, name),
);

const head = (name: MetricName): string =>
  `# HELP ${name} ${escaped(METRICS[name].help)}\n# TYPE ${name} gauge\n`;

function line({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${quoted(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const quoted = (text: string) => escaped(text).replaceAll('"', '\\"');

/** The metrics of Sites: every path leads somewhere, and every alert and panel asks for what there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { siteSchema } from '../../../cli/fleet/site.ts';
import { readGoDocuments } from '../../../lib/base/go-yaml/read.ts';
import { REPORTED_CHANGES } from '../../../lib/engine/report/node-report.ts';
import { FIELD_MANAGERS } from '../../../lib/engine/report/site-status.ts';
import { siteStatusOf } from '../../../lib/engine/report/site-status-of.ts';
import { root } from '../structure/source.ts';
import { eachOf, seriesOf, siteMetricsSchema } from './site-series.ts';

const AT = '2030-01-01T12:00:00.000Z';
const SECONDS = Date.parse(AT) / 1000;
const read = (name: string) => readFileSync(join(root, 'deploy/fleet', name), 'utf8');
const objects = (name: string) =>
  readGoDocuments(read(name)).map((document) => ('value' in document ? document.value : document));

const [config] = siteMetricsSchema.parse(objects('metrics/site-metrics.yaml')[0]).spec.resources;
const SITE = {
  apiVersion: 'fleet.sno-agents.io/v1alpha1',
  kind: 'Site',
  metadata: {
    ...{ name: 'berlin', namespace: 'shops', labels: { wave: '1' } },
    managedFields: [
      { manager: FIELD_MANAGERS.worker, time: '2030-01-01T11:00:00Z' },
      { manager: FIELD_MANAGERS.node, time: '2030-01-01T12:00:00Z' },
    ],
  },
  spec: { action: 'update', serial: 3 },
  status: siteStatusOf(
    {
      ...{ schemaVersion: 1, sequence: 7, at: AT, node: 'edge-0', machine: [], version: '1.2.3' },
      nextExpiry: { certificate: 'report', notAfter: AT },
      changes: REPORTED_CHANGES.map((change) => ({
        ...{ change, state: 'failed', at: AT, serial: 2, code: 'site-link', what: 'x', fix: 'y' },
      })),
    },
    [],
  ),
};

t.test('a Site as Prometheus sees it', async (t) => {
  siteSchema.parse(SITE);
  const series = seriesOf(config, SITE);
  const own = { namespace: 'shops', site: 'berlin', wave: '1' };
  const is = (name: string, labels: object, value: number) =>
    t.ok(
      series.some(
        (each) =>
          each.name === name &&
          each.value === value &&
          JSON.stringify(Object.entries(each.labels).toSorted()) ===
            JSON.stringify(Object.entries({ ...own, ...labels }).toSorted()),
      ),
      `${name} ${JSON.stringify(labels)}`,
    );
  is('sno_site_info', { action: 'update', node: 'edge-0', version: '1.2.3' }, 1);
  is('sno_site_serial', { action: 'update' }, 3);
  is('sno_site_condition', { condition: 'Failed', reason: 'site-link' }, 1);
  is('sno_site_condition', { condition: 'Completed', reason: 'site-link' }, 0);
  is('sno_site_condition_transition_timestamp_seconds', { condition: 'Failed' }, SECONDS);
  is('sno_site_heard_timestamp_seconds', {}, SECONDS);
  const backup = { change: 'backup', state: 'failed' };
  is('sno_site_change_timestamp_seconds', { ...backup, code: 'site-link' }, SECONDS);
  is('sno_site_change_serial', backup, 2);
  is('sno_site_certificate_not_after_timestamp_seconds', { certificate: 'report' }, SECONDS);
  const names = new Set(series.map(({ name }) => name));
  t.equal(names.size, config.metrics.length, 'each metric has a value');
  const { status: _, ...unheard } = SITE;
  const before = seriesOf(config, { ...unheard, metadata: { name: 'a', namespace: 'b' } });
  t.same(
    before.map(({ name }) => name),
    ['sno_site_info', 'sno_site_serial'],
  );
});

const nodeSchema = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

/** Whether the definition of Sites has that path below `schema`, through lists. */
function leads(schema: unknown, path: readonly string[]): boolean {
  const node = nodeSchema.safeParse(schema).data;
  if (node === undefined) return false;
  if (node.items !== undefined) return leads(node.items, path);
  const [first, ...rest] = path;
  return first === undefined || leads(node.properties?.[first], rest);
}

t.test('every path is one of the definition', async (t) => {
  const definition = z
    .looseObject({
      spec: z.looseObject({
        versions: z.array(
          z.looseObject({ schema: z.looseObject({ openAPIV3Schema: z.unknown() }) }),
        ),
      }),
    })
    .parse(objects('crd.yaml')[0]);
  const schema = definition.spec.versions[0]?.schema.openAPIV3Schema;
  const all = config.metrics.flatMap((metric) => {
    const { path = [], valueFrom = [], labelsFromPath = {} } = eachOf(metric);
    return [
      [...path, ...valueFrom],
      ...Object.values(labelsFromPath).map((label) => [...path, ...label]),
      ...Object.values(metric.labelsFromPath ?? {}),
    ];
  });
  // Kubernetes' own fields are in no definition.
  const ours = all.filter(([first]) => first !== 'metadata');
  t.ok(ours.length > 15);
  for (const path of ours) t.ok(leads(schema, path), path.join('.'));
  t.notOk(leads(schema, ['status', 'report', 'changes', 'none']), 'it finds faults');
});

/** What the expressions of alerts and panels may ask for. */
const NAMES = config.metrics.map(({ name }) => `${config.metricNamePrefix}_${name}`);
const LABELS = new Set([
  ...Object.keys(config.labelsFromPath),
  ...config.metrics.flatMap((metric) => [
    ...Object.keys(metric.labelsFromPath ?? {}),
    ...Object.keys(eachOf(metric).labelsFromPath ?? {}),
  ]),
]);

function unknownIn(expression: string): string[] {
  const names = expression.match(/\bsno_\w+/g) ?? [];
  const compared = Array.from(expression.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g), ([, it]) => it);
  const grouped = Array.from(expression.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g), ([, it = '']) =>
    it.split(/\s*,\s*/),
  ).flat();
  return [
    ...(names.length === 0 ? ['no metric'] : names.filter((name) => !NAMES.includes(name))),
    ...[...compared, ...grouped].filter((label) => !LABELS.has(label ?? '')).map(String),
  ];
}

t.test('alerts and panels ask for what there is', async (t) => {
  const rules = z
    .looseObject({
      spec: z.looseObject({
        groups: z.array(
          z.looseObject({
            rules: z.array(
              z.looseObject({ expr: z.string(), annotations: z.record(z.string(), z.string()) }),
            ),
          }),
        ),
      }),
    })
    .parse(objects('metrics/prometheus-operator.yaml').at(-1))
    .spec.groups.flatMap(({ rules }) => rules);
  t.ok(rules.length >= 8);
  for (const { expr, annotations } of rules) {
    t.same(unknownIn(expr), [], expr);
    const told = Object.values(annotations)
      .join(' ')
      .matchAll(/\$labels\.(\w+)/g);
    t.same(
      Array.from(told, ([, it = '']) => it).filter((label) => !LABELS.has(label)),
      [],
    );
  }
  const { panels } = z
    .looseObject({
      panels: z.array(
        z.looseObject({ title: z.string(), targets: z.array(z.looseObject({ expr: z.string() })) }),
      ),
    })
    .parse(JSON.parse(read('metrics/dashboard.json')));
  t.ok(panels.length > 10);
  for (const { title, targets } of panels) {
    for (const { expr } of targets) t.same(unknownIn(expr), [], title);
  }
  t.same(unknownIn('sno_site_gone{place="x"}'), ['sno_site_gone', 'place'], 'it finds faults');
});

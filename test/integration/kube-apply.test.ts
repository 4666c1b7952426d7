import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failedRows, failureTable, outcomeTable } from '../../lib/clients/kube/apply-table.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { loadManifests } from '../../lib/clients/kube/manifests.ts';
import {
  objectSchema,
  type Resource,
  resourcePath,
  resources,
} from '../../lib/clients/kube/resources.ts';
import { withAddOns } from '../unit/render/addon-objects.ts';

const { signal } = new AbortController();
const folder = t.testdir();
// The rendered add-ons have addresses of it.
const args = ['--service-cluster-ip-range=172.30.0.0/16'];
const controlPlane = await startControlPlane(join(folder, 'control-plane'), signal, { args });
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());
const limits = { signal, deadlineMs: 10_000 };

const widgets: Resource = { apiVersion: 'example.com/v1', plural: 'widgets', schema: objectSchema };
const gadgets: Resource = { apiVersion: 'example.com/v1', plural: 'gadgets', schema: objectSchema };
const deployments: Resource = {
  apiVersion: 'apps/v1',
  plural: 'deployments',
  schema: objectSchema,
};

function definition(plural: string, kind: string) {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  };
}

const object = (kind: string, name: string, more: object = {}, apiVersion = 'v1') => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'shop' },
  ...more,
});

const widget = (name: string, more: object = {}) => object('Widget', name, more, 'example.com/v1');

async function writeManifests(name: string, files: Record<string, unknown>): Promise<string> {
  const target = join(folder, name);
  await mkdir(target, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(join(target, file), text);
  }
  return target;
}

function options(deadlineMs: number, report: (text: string) => void = () => {}) {
  return { signal, deadlineMs, concurrency: 8, report };
}

t.test('sixty manifests in the worst order, some existing, some wrong', async (t) => {
  const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'existing' } };
  const before = await client.create(
    resources.configMaps,
    { namespace: 'default' },
    { ...object('ConfigMap', 'kept', { data: { a: 'old' } }), metadata: { name: 'kept' } },
    limits,
  );
  const numbered = Array.from({ length: 50 }, (_, at) =>
    object('ConfigMap', `c${at}`, { data: { at: `${at}` } }),
  );
  const target = await writeManifests('sixty', {
    '01-widget.yaml': widget('w1', { spec: { size: 1 }, status: { phase: 'Found' } }),
    '02-configmaps.yaml': numbered
      .slice(0, 20)
      .map((entry) => JSON.stringify(entry))
      .join('\n---\n'),
    '03-list.json': { apiVersion: 'v1', kind: 'List', items: numbered.slice(20) },
    '04-kept.yaml': {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kept' },
      data: { a: 'new' },
    },
    '05-deployment.yaml': object(
      'Deployment',
      'd',
      {
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { containers: [{ name: 'c', image: 'i' }] },
          },
        },
      },
      'apps/v1',
    ),
    '06-rejected.yaml': object('Service', 'bad', { spec: { ports: [{ port: 700_000 }] } }),
    '07-undecodable.yaml': 'kind: ConfigMap\nmetadata: {',
    '08-elsewhere.yaml': { ...shop, metadata: { name: 'other' } },
    '09-cluster-role.yaml': {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
    '98-definition.yaml': definition('widgets', 'Widget'),
    '99-namespace.yaml': { ...shop, metadata: { name: 'shop' } },
  });
  const rows = await applyManifests(client, await loadManifests([target]), options(30_000));
  t.equal(rows.length, 59);
  t.match(
    failedRows(rows).map(({ file, outcome, reason, attempts }) => ({
      file,
      outcome,
      reason,
      attempts,
    })),
    [
      { file: /07-undecodable/, outcome: 'undecodable', attempts: 0 },
      { file: /06-rejected/, outcome: 'rejected', reason: /422.*700000/s, attempts: 1 },
    ],
    failureTable(rows).join('\n'),
  );
  t.same(
    rows.filter(({ outcome }) => outcome === 'existing').map(({ name }) => name),
    ['kept'],
  );
  const kept = await client.get(
    resources.configMaps,
    { namespace: 'default', name: 'kept' },
    limits,
  );
  t.equal(
    kept.metadata.resourceVersion,
    before.metadata.resourceVersion,
    'what exists is untouched',
  );
  const list = await client.list(resources.configMaps, { namespace: 'shop' }, limits);
  t.equal(list.items.filter(({ metadata }) => /^c\d+$/.test(metadata.name)).length, 50);
  const made = await client.get(widgets, { namespace: 'shop', name: 'w1' }, limits);
  t.match(made, { spec: { size: 1 }, status: { phase: 'Found' } });

  const versions = async () => {
    const all = [
      await client.list(resources.configMaps, { namespace: 'shop' }, limits),
      await client.list(widgets, {}, limits),
      await client.list(deployments, {}, limits),
    ];
    return all.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion));
  };
  const versionsBefore = await versions();
  const again = await applyManifests(client, await loadManifests([target]), options(30_000));
  t.equal(
    again.filter(({ outcome }) => outcome === 'existing').length,
    57,
    'a second run changes nothing',
  );
  t.same(await versions(), versionsBefore);
});

t.test(
  'a resource waits for its definition and its namespace, without blocking others',
  async (t) => {
    const target = await writeManifests('waiting', {
      'a.yaml': object('Gadget', 'g1', { spec: {} }, 'example.com/v1'),
      'b.yaml': { ...object('ConfigMap', 'early'), metadata: { name: 'early', namespace: 'late' } },
      'c.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'at-once' } },
    });
    const reports: string[] = [];
    const applying = applyManifests(
      client,
      await loadManifests([target]),
      options(30_000, (text) => reports.push(text)),
    );
    await delay(2000);
    const at = { namespace: 'default', name: 'at-once' };
    t.ok(await client.find(resources.configMaps, at, limits), 'others are there already');
    const { customResourceDefinitions } = resources;
    await client.create(customResourceDefinitions, {}, definition('gadgets', 'Gadget'), limits);
    const namespaces: Resource = { apiVersion: 'v1', plural: 'namespaces', schema: objectSchema };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } };
    await client.create(namespaces, {}, namespace, limits);
    const began = performance.now();
    const rows = await applying;
    t.same(failedRows(rows), []);
    t.ok(performance.now() - began < 8000, 'soon after');
    t.ok((rows.find(({ name }) => name === 'g1')?.attempts ?? 0) >= 2, 'tried again');
    t.ok(await client.find(gadgets, { namespace: 'shop', name: 'g1' }, limits));
    t.match(reports.join('\n'), /1 of 3 manifests processed, 2 waiting: the API serves no Gadget/);
  },
);

t.test('objects that can never be created are reported at the deadline', async (t) => {
  const target = await writeManifests('never', {
    'a.yaml': object('Gizmo', 'x', {}, 'nowhere.example.com/v1'),
    'b.yaml': object('Pods', 'x'),
    'c.yaml': { ...object('ConfigMap', 'x'), metadata: { name: 'x', namespace: 'missing' } },
  });
  const rows = await applyManifests(client, await loadManifests([target]), options(2500));
  t.match(rows, [
    { outcome: 'unserved', reason: /no Gizmo in nowhere\.example\.com\/v1/ },
    { outcome: 'unserved', reason: /no Pods in v1/ },
    { outcome: 'timed out', reason: /namespaces "missing" not found/ },
  ]);
  for (const { attempts, name } of rows) t.ok(attempts >= 2, `${name}: ${attempts} attempts`);
});

t.test('fields that the API does not know', async (t) => {
  const misspelt = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], clusterIp: 'None' },
  });
  const services: Resource = { apiVersion: 'v1', plural: 'services', schema: objectSchema };
  const target = await writeManifests('misspelt', { 'a.yaml': misspelt('misspelt') });
  const loaded = await loadManifests([target]);
  const rows = await applyManifests(client, loaded, options(30_000));
  t.match(rows, [{ outcome: 'rejected', reason: /unknown field "spec\.clusterIp"/, attempts: 1 }]);
  const place = { namespace: 'default', name: 'misspelt' };
  t.equal(await client.find(services, place, limits), undefined, 'nothing is stored');
  const warned = await applyManifests(client, loaded, {
    ...options(30_000),
    fieldValidation: () => 'Warn',
  });
  t.match(warned, [{ outcome: 'created', warnings: ['unknown field "spec.clusterIp"'] }]);
  t.match(outcomeTable(warned), [/OUTCOME/, /created .*warning: unknown field "spec\.clusterIp"$/]);
  const again = await applyManifests(client, loaded, options(30_000));
  t.match(again, [{ outcome: 'existing' }], 'an object that exists is left as it is');
});

t.test('values are stored as kubectl would send them', async (t) => {
  const target = await writeManifests('values', {
    'a.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values}\ndata: {a: e2, b: ., c: 12e4567, d: "no"}\n',
    'b.yaml':
      'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: values, namespace: default}\nspec: {size: 9007199254740993, mode: 0o644}\n',
  });
  const rows = await applyManifests(client, await loadManifests([target]), options(30_000));
  t.same(outcomeTable(rows), []);
  const place = { namespace: 'default', name: 'values' };
  const map = await client.get(resources.configMaps, place, limits);
  t.match(map, { data: { a: 'e2', b: '.', c: '12e4567', d: 'no' } });
  const { body } = await client.raw(resourcePath(widgets, place), limits);
  t.match(body, '"size":9007199254740993');
  t.match(body, '"mode":420');
});

t.test('the rendered manifests have no field that the API does not know', async (t) => {
  const manifests = withAddOns.manifests.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  t.ok(manifests.length > 30, `${manifests.length} manifests`);
  const rows = await applyManifests(client, { manifests, faults: [] }, options(60_000));
  t.same(outcomeTable(rows), []);
});

t.test('waits for an unavailable API server', async (t) => {
  const target = await writeManifests('away', {
    'a.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after' } },
  });
  await controlPlane.stopApiServer();
  const applying = applyManifests(client, await loadManifests([target]), options(60_000));
  await controlPlane.startApiServer();
  t.match(await applying, [{ outcome: 'created' }]);
});

t.test('a stop ends it immediately', async (t) => {
  const stop = new AbortController();
  const target = await writeManifests('stop', { 'a.yaml': object('Gizmo', 'x') });
  const applying = applyManifests(client, await loadManifests([target]), {
    ...options(60_000),
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(new Error('told to stop')), 300);
  await t.rejects(applying, /told to stop/);
});

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

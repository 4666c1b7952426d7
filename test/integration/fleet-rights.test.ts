/** What certificates of nodes, and the account of the Jobs, may do on a hub: at a real API server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { failedRows } from '../../lib/clients/kube/apply-table.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { KubeError } from '../../lib/clients/kube/kube-error.ts';
import { resourcePath, resources } from '../../lib/clients/kube/resources.ts';
import {
  API_VERSION,
  FIELD_MANAGERS,
  SITES_GROUP,
  STATUS_LIMITS,
  siteUser,
} from '../../lib/engine/report/site-status.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';
import { certificateRequest } from '../../lib/pki/request.ts';
import { namespace, root, sites, startHub } from './fleet-hub.ts';

const { controlPlane, admin, applied, limits } = await startHub(t);

const FILES = ['crd', 'node-access', 'flow-control', 'worker-access'];
const site = (name: string) =>
  JSON.stringify({
    apiVersion: API_VERSION,
    kind: 'Site',
    metadata: { name, namespace },
    spec: { action: 'relocate', serial: 1 },
  });
const given = [
  ...FILES.map((name) => readFileSync(join(root, `deploy/fleet/${name}.yaml`), 'utf8')),
  ...['berlin-0042', 'rome-0043'].map(site),
];
t.same(failedRows(await applied('deploy', given.join('\n---\n'))), []);

const NOW = '2030-01-02T03:04:05Z';
const condition = (type: string, reason: string, status = 'True') => ({
  type,
  status,
  reason,
  message: 'x',
  lastTransitionTime: NOW,
});
const report = (sequence: number, more: object = {}) => ({
  sequence,
  at: NOW,
  node: 'n',
  version: '1',
  changes: [{ change: 'relocate', state: 'running', at: NOW, step: '4/14 network', ...more }],
});

/** A request as a node or a worker makes it; undefined if it is accepted. */
async function refusal(request: Promise<unknown>): Promise<{ code: number; message: string }> {
  try {
    await request;
    return { code: 200, message: 'accepted' };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { code: error.code ?? 0, message: error.message };
  }
}

interface Written {
  readonly name?: string;
  readonly manager?: string;
  readonly subresource?: string | undefined;
  readonly body: object;
}

function apply(client: KubeClient, { name = 'berlin-0042', manager, subresource, body }: Written) {
  const path = resourcePath(sites, { namespace, name, subresource });
  const object = { apiVersion: API_VERSION, kind: 'Site', metadata: { name, namespace }, ...body };
  const call = {
    method: 'PATCH',
    path: `${path}?fieldManager=${manager ?? FIELD_MANAGERS.node}&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: object,
  } as const;
  return refusal(client.json(call, limits));
}

const writeStatus = (client: KubeClient, status: object, more: Partial<Written> = {}) =>
  apply(client, { subresource: 'status', body: { status }, ...more });

function merge(client: KubeClient, body: object, subresource?: string) {
  const path = resourcePath(sites, { namespace, name: 'berlin-0042', subresource });
  const contentType = 'application/merge-patch+json';
  return refusal(client.json({ method: 'PATCH', path, body, contentType }, limits));
}

t.test('the certificate of a node', async (t) => {
  const name = siteUser(namespace, 'berlin-0042');
  const node = await controlPlane.client({ name, groups: [SITES_GROUP] });
  t.teardown(() => node[Symbol.dispose]());
  const volume = { sha256: 'a'.repeat(64), serial: 1, publishedAt: NOW };
  const conditions = [condition('Rendered', 'Rendered'), condition('Delivered', 'DataImage')];
  const hub = { manager: FIELD_MANAGERS.worker };
  t.match(await writeStatus(admin, { volume, conditions }, hub), { code: 200 });
  const siteNow = () => admin.get(sites, { namespace, name: 'berlin-0042' }, limits);

  // A policy counts from a moment after its creation on.
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await writeStatus(node, {})).code === 422) break;
  }

  t.test('writes its report and its conditions beside those of the hub', async (t) => {
    const own = { report: report(5), conditions: [condition('Started', 'Started')] };
    t.match(await writeStatus(node, own), { code: 200 });
    t.match((await siteNow()).status, { volume, report: { sequence: 5 } });
    const later = { report: report(6), conditions: [condition('Failed', 'site-link')] };
    t.match(await writeStatus(node, later), { code: 200 });
    const { status } = await siteNow();
    t.match(status, {
      conditions: [{ type: 'Rendered' }, { type: 'Delivered' }, { type: 'Failed' }],
    });
  });

  t.test('kubectl get sites tells it', async (t) => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const path = resourcePath(sites, { namespace, name: 'berlin-0042' });
    const answer = await admin.json({ method: 'GET', path, accept }, limits);
    const cells = [
      'berlin-0042',
      'relocate',
      'True',
      '4/14 network',
      null,
      'True',
      'site-link',
      1,
      'n',
      'x',
    ];
    t.match(answer, { rows: [{ cells }] });
  });

  t.test('an older report is refused, and told the last sequence', async (t) => {
    for (const old of [6, 5, 0]) {
      const { code, message } = await writeStatus(node, { report: report(old) });
      t.equal(code, 422);
      t.match(message, /newer than 6$/);
    }
    t.match(await writeStatus(node, {}), { code: 422, message: /expected status\.report/ });
    const highest = { report: report(2 ** 53 - 1) };
    t.match(await writeStatus(node, highest), { code: 422, message: /sequence/ }, 'no last number');
    const named = { report: report(7) };
    const other = await writeStatus(node, named, { manager: 'another' });
    t.match(other, { code: 422, message: /own field manager/ });
  });

  t.test('nothing else of the status', async (t) => {
    const others = [
      { volume: { ...volume, url: 'https://elsewhere.example.com' } },
      { conditions: [condition('Rendered', 'Other')] },
      { conditions: [condition('Delivered', 'DataImage', 'False')] },
    ];
    for (const other of others) {
      const refused = await writeStatus(node, { report: report(7), ...other });
      t.match(refused, { code: 422, message: /a node writes/ }, JSON.stringify(other));
    }
    const removing = [
      { status: { report: report(7), volume: null } },
      { status: { report: report(7), conditions: [] } },
      { status: null },
    ];
    for (const body of removing) t.match(await merge(node, body, 'status'), { code: 422 });
    t.match((await siteNow()).status, { volume, report: { sequence: 6 } });
  });

  t.test('nothing of the Site itself', async (t) => {
    const before = await siteNow();
    const body = { spec: { action: 'none', serial: 9 } };
    t.match(await apply(node, { body }), { code: 403 });
    t.match(await merge(node, { metadata: { labels: { wave: '9' } } }), { code: 403 });
    await merge(node, { ...body, status: { report: report(8) } }, 'status');
    const { spec, metadata } = await siteNow();
    t.same(spec, before.spec, 'the subresource has no spec');
    t.same(metadata.labels, before.metadata.labels);
  });

  t.test('no other Site, also not with a name that looks like its own', async (t) => {
    const other = { name: 'rome-0043' };
    const refused = await writeStatus(node, { report: report(100) }, other);
    t.match(refused, {
      code: 422,
      message: /not that of Site rome-0043: expected sno:site:sno-fleet:rome-0043$/,
    });
    const missing = await writeStatus(node, { report: report(100) }, { name: 'nowhere' });
    t.ok([403, 404, 422].includes(missing.code), `${missing.code}`);
    for (const user of ['sno:site:sno-fleet:berlin', 'sno:site::berlin-0042', 'berlin-0042']) {
      const stranger = await controlPlane.client({ name: user, groups: [SITES_GROUP] });
      t.match(await writeStatus(stranger, { report: report(100) }), { code: 422 }, user);
      stranger[Symbol.dispose]();
    }
    t.equal((await admin.get(sites, { namespace, ...other }, limits)).status, undefined);
  });

  t.test('reads and deletes nothing', async (t) => {
    const own = { namespace, name: 'berlin-0042' };
    const forbidden = [
      () => node.get(sites, own, limits),
      () => node.get(sites, { ...own, subresource: 'status' }, limits),
      () => node.list(sites, { namespace }, limits),
      () => node.list(resources.secrets, { namespace }, limits),
      () => node.list(resources.configMaps, { namespace }, limits),
      () => node.remove(sites, own, limits),
      () => node.create(resources.secrets, { namespace }, { metadata: { name: 'x' } }, limits),
    ];
    for (const request of forbidden) t.match(await refusal(request()), { code: 403 });
  });

  t.test('not more than fits', async (t) => {
    const long = { what: 'x'.repeat(STATUS_LIMITS.what + 1) };
    t.match(await writeStatus(node, { report: report(20, long) }), { code: 422, message: /what/ });
    const text = 'x'.repeat(STATUS_LIMITS.what);
    const kinds = ['install', 'update', 'restore', 'rotate', 'backup'];
    const full = kinds.map((each) => ({
      change: each,
      state: 'failed',
      at: NOW,
      what: text,
      fix: text,
    }));
    const all = await writeStatus(node, { report: { ...report(20), changes: full } });
    t.match(all, { code: 422, message: /expected at most 8192 characters/ });
    const most = { report: { ...report(20), changes: full.slice(0, 3) } };
    t.match(await writeStatus(node, most), { code: 200 });
    const path = resourcePath(sites, { namespace, name: 'berlin-0042' });
    const { body } = await admin.raw(path, limits);
    t.ok(body.length < 12_000, `${body.length} bytes in etcd`);
    const twice = report(21);
    const changes = [...twice.changes, ...twice.changes];
    t.not((await writeStatus(node, { report: { ...twice, changes } })).code, 200);
  });
});

t.test('the account of the worker', async (t) => {
  const name = 'system:serviceaccount:sno-fleet:sno-fleet';
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:sno-fleet'];
  const worker = await controlPlane.client({ name, groups });
  t.teardown(() => worker[Symbol.dispose]());
  const conditions = [condition('Rendered', 'Rendered')];
  const hub = { manager: FIELD_MANAGERS.worker, name: 'rome-0043' };
  t.match(await writeStatus(worker, { conditions }, hub), { code: 200 });
  t.match(await apply(worker, { ...hub, body: { spec: { action: 'none', serial: 1 } } }), {
    code: 403,
  });
  t.match(await refusal(worker.list(resources.secrets, { namespace }, limits)), { code: 403 });

  t.test('approves requests of its own for clients, and no other', async (t) => {
    const { certificateSigningRequests: requests } = resources;
    const subject = { commonName: siteUser(namespace, 'rome-0043'), organizations: [SITES_GROUP] };
    const pem = await certificateRequest(subject, await createSigningKey());
    const signer = 'kubernetes.io/kube-apiserver-client';
    const create = (client: KubeClient, of: string, signerName: string) => {
      const request = Buffer.from(pem).toString('base64');
      const spec = { request, signerName, usages: ['digital signature', 'client auth'] };
      return client.create(requests, {}, { metadata: { name: of }, spec }, limits);
    };
    const serving = await refusal(create(worker, 'serving', 'kubernetes.io/kubelet-serving'));
    t.match(serving, { code: 403, message: /asks for certificates of clients only/ });
    const approve = async (of: string) => {
      const body = await admin.get(requests, { name: of }, limits);
      const approval = { type: 'Approved', status: 'True', reason: 'x', message: 'x' };
      const place = { name: of, subresource: 'approval' };
      const status = { ...body.status, conditions: [approval] };
      return refusal(worker.replace(requests, place, { ...body, status }, limits));
    };
    await create(worker, 'own', signer);
    t.match(await approve('own'), { code: 200 });
    t.equal(await worker.remove(requests, { name: 'own' }, limits), true);
    await create(admin, 'foreign', signer);
    t.match(await approve('foreign'), { code: 403, message: /its own requests only/ });
    const deleted = await refusal(worker.remove(requests, { name: 'foreign' }, limits));
    t.match(deleted, { code: 403, message: /its own requests only/ });
  });
});

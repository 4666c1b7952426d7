/** The files of deploy/fleet and what `sno fleet` prints, at a real API server; certificates of nodes that want more. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failedRows, failureTable, outcomeTable } from '../../lib/clients/kube/apply-table.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { KubeError } from '../../lib/clients/kube/kube-error.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import {
  objectSchema,
  type Resource,
  resourcePath,
  resources,
} from '../../lib/clients/kube/resources.ts';
import {
  API_VERSION,
  FIELD_MANAGERS,
  SITES_GROUP,
  STATUS_LIMITS,
  siteUser,
} from '../../lib/engine/report/site-status.ts';
import { createSigningKey } from '../../lib/pki/keys.ts';
import { certificateRequest } from '../../lib/pki/request.ts';
import { sno } from '../unit/cli/run-sno.ts';

const root = join(import.meta.dirname, '..', '..');
const { signal } = new AbortController();
const folder = t.testdir();
const controlPlane = await startControlPlane(join(folder, 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());
const limits = { signal, deadlineMs: 20_000 };
const kubeconfig = join(folder, 'kubeconfig');
writeFileSync(
  kubeconfig,
  await controlPlane.kubeconfig({ name: 'test-admin', groups: ['system:masters'] }),
);

const namespace = 'sno-fleet';
const sites: Resource = { apiVersion: API_VERSION, plural: 'sites', schema: objectSchema };
const FILES = ['crd', 'node-access', 'flow-control', 'worker-access', 'web-server'];

async function applied(name: string, text: string) {
  const { manifests } = decodeManifests(name, text);
  const options = { signal, deadlineMs: 30_000, concurrency: 8, report: () => {} };
  return applyManifests(admin, { manifests, faults: [] }, options);
}

const ROWS = Array.from(
  { length: 510 },
  (_, at) => `shop-${String(at).padStart(4, '0')},${at < 20 ? '1' : '2'},${at},url`,
);
const table = join(folder, 'sites.csv');
writeFileSync(
  table,
  `site,wave,number,delivery\nberlin-0042,0,42,url\nrome-0043,0,43,url\n${ROWS.join('\n')}\n`,
);

t.test('the files of a hub are accepted as they are', async (t) => {
  const text = FILES.map((name) => readFileSync(join(root, `deploy/fleet/${name}.yaml`), 'utf8'));
  const rows = await applied('deploy', text.join('\n---\n'));
  t.ok(rows.length > 15, `${rows.length} objects`);
  t.same(failedRows(rows), [], failureTable(rows).slice(0, 3).join('\n'));
  t.same(outcomeTable(rows), [], 'and without a warning');
});

t.test('Sites that import prints are accepted, and counted over several pages', async (t) => {
  const printed = await sno(['fleet', 'import', '--table', table, '--template', 'shop']);
  t.equal(printed.code, 0, printed.err);
  const rows = await applied('sites', printed.out);
  t.equal(rows.length, 512);
  t.same(failedRows(rows), [], failureTable(rows).slice(0, 3).join('\n'));
  const status = await sno(['fleet', 'status', '--kubeconfig', kubeconfig, '--json']);
  t.equal(status.code, 0, status.err);
  t.match(JSON.parse(status.out), { sites: 512, states: { waiting: 512 } });
  const selected = await sno(['fleet', 'status', '--selector', 'wave=1'], {
    KUBECONFIG: kubeconfig,
  });
  t.match(selected.out, /^20 Sites in the namespace sno-fleet with wave=1\n\nWAITING +20 /);
});

t.test('the Jobs of a wave are accepted', async (t) => {
  const wave = ['--selector', 'wave=2', '--image', 'registry.example.com/sno:1'];
  const server = ['--hub-server', 'https://hub.example.com:6443', '--hub-ca', 'hub-ca'];
  const url = ['--publish-url', 'https://volumes.example.com'];
  const hub = ['--kubeconfig', kubeconfig];
  const { code, out, err } = await sno(['fleet', 'jobs', ...wave, ...url, ...server, ...hub]);
  t.equal(code, 0, err);
  const rows = await applied('jobs', out);
  t.same(failedRows(rows), [], failureTable(rows).slice(0, 3).join('\n'));
  t.same(outcomeTable(rows), [], 'and without a warning');
  const jobs: Resource = { apiVersion: 'batch/v1', plural: 'jobs', schema: objectSchema };
  const { items } = await admin.list(jobs, { namespace }, limits);
  t.match(
    items.map(({ metadata: { name }, spec }) => ({ name, spec })),
    [
      { name: 'sno-fleet-2', spec: { completions: 490, suspend: true, maxFailedIndexes: 50 } },
      {
        name: 'sno-fleet-2-canary',
        spec: { completions: 10, suspend: false, maxFailedIndexes: 0 },
      },
      { name: 'sno-fleet-2-canary-collect', spec: { completions: 10, suspend: true } },
      { name: 'sno-fleet-2-collect', spec: { completions: 490, suspend: true } },
    ],
  );
});

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
      'n',
      'x',
    ];
    t.match(answer, { rows: [{ cells }] });
  });

  t.test('an older report is refused, and told the last sequence', async (t) => {
    for (const old of [6, 5, -1]) {
      const { code, message } = await writeStatus(node, { report: report(old) });
      t.equal(code, 422);
      t.match(message, /newer than 6$/);
    }
    t.match(await writeStatus(node, {}), { code: 422, message: /expected status\.report/ });
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
    const twice = report(20);
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

t.test('a page of it', async (t) => {
  const page = join(folder, 'fleet.html');
  const { code, err } = await sno(['fleet', 'report', '--html', page, '--kubeconfig', kubeconfig]);
  t.equal(code, 0, err);
  t.match(readFileSync(page, 'utf8'), /512 sites in sno-fleet/);
});

t.test('a hub without Sites says what to apply', async (t) => {
  await admin.remove(
    resources.customResourceDefinitions,
    { name: 'sites.fleet.sno-agents.io' },
    limits,
  );
  const status = () => sno(['fleet', 'status', '--kubeconfig', kubeconfig]);
  let last = await status();
  for (let tries = 0; tries < 50 && last.code === 0; tries += 1) last = await status();
  t.equal(last.code, 2);
  t.match(last.err, /the hub has no Sites.*Apply deploy\/fleet\/crd\.yaml/s);
});

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failureTable } from '../../lib/clients/kube/apply-table.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { type CertificateSigningRequest, resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import { type Decision, describeDecision } from '../../lib/cluster/csr/decision.ts';
import { fingerprintOf } from '../../lib/cluster/csr/views.ts';
import { users } from '../../lib/render/kubernetes/leaves.ts';
import { manifests as renderManifests } from '../../lib/render/kubernetes/manifests.ts';
import { host, requestPem, type Variation } from '../unit/cluster/csr/requests.ts';
import { input } from '../unit/render/rendered-host.ts';

const { nodeName } = host;
const limits = { signal: new AbortController().signal, deadlineMs: 10_000 };
const { signal } = limits;
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const user = (name: string, ...groups: string[]) => controlPlane.client({ name, groups });
const identity = await controlPlane.access({
  name: `system:node:${nodeName}`,
  groups: ['system:nodes'],
});
const kubelet = new KubeClient(identity);
const [admin, otherKubelet, approver] = await Promise.all([
  controlPlane.client(),
  user('system:node:worker-0', 'system:nodes'),
  user(users.csrApprover),
]);
t.teardown(() => {
  for (const client of [admin, kubelet, otherKubelet, approver]) client[Symbol.dispose]();
});

const view = {
  ...host,
  nodeIps: ['192.0.2.10', '198.51.100.1'],
  clientCertificate: fingerprintOf(identity.certificate),
};
const decisions: Decision[] = [];

const nameOf = (node: string) => [{ O: ['system:nodes'] }, { CN: [`system:node:${node}`] }];

/** Submits a request as that user; the names are valid unless varied. */
async function submit(client: KubeClient, name: string, { spec, ...variation }: Variation = {}) {
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(await requestPem(variation)).toString('base64'),
      signerName: 'kubernetes.io/kubelet-serving',
      usages: ['digital signature', 'server auth'],
      ...spec,
    },
  };
  return client.create(resources.certificateSigningRequests, {}, body, limits);
}

function watchRequest<T>(
  name: string,
  decide: (request: CertificateSigningRequest) => T | undefined,
) {
  return watchUntil(
    admin,
    resources.certificateSigningRequests,
    { fieldSelector: `metadata.name=${name}` },
    (requests) => {
      const request = requests.get(name);
      return request === undefined ? undefined : decide(request);
    },
    { signal, deadlineMs: 10_000, what: name, describe: () => 'undecided', report: () => {} },
  );
}

const approvalOf = (name: string) =>
  watchRequest(name, ({ status }) => status?.conditions?.find(({ type }) => type === 'Approved'));

async function decisionOn(name: string): Promise<Decision> {
  for (let tries = 0; tries < 100; tries++) {
    const decision = decisions.findLast(({ request }) => request === name);
    if (decision !== undefined) return decision;
    await sleep(50);
  }
  throw new Error(`nothing was decided on ${name}`);
}

async function setAddresses(...addresses: string[]): Promise<void> {
  const node = await admin.get(resources.nodes, { name: nodeName }, limits);
  const internal = addresses.map((address) => ({ type: 'InternalIP', address }));
  const body = { ...node, status: { ...node.status, addresses: internal } };
  await admin.replace(resources.nodes, { name: nodeName, subresource: 'status' }, body, limits);
}

t.before(async () => {
  const rendered = renderManifests({ ...input, host: { ...input.host, hostname: nodeName } });
  const manifests = rendered.flatMap(
    ({ name, contents }) => decodeManifests(name, contents).manifests,
  );
  const options = { ...limits, concurrency: 4, report: () => {} };
  const rows = await applyManifests(admin, { manifests, faults: [] }, options);
  t.same(failureTable(rows), []);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } };
  await admin.create(resources.nodes, {}, node, limits);
  await setAddresses('192.0.2.10');
});

t.test('the approver, with the rendered rights', async (t) => {
  const stop = new AbortController();
  const running = approveServingRequests(approver, {
    signal: stop.signal,
    nodeName,
    host: async () => view,
    report: (decision) => decisions.push(decision),
    reportsAllSigners: true,
  });
  running.catch(() => {});

  await t.test("approves the node's own request", async (t) => {
    await submit(kubelet, 'right');
    t.match(await approvalOf('right'), { status: 'True', reason: 'NodeServingCertificate' });
    t.match(
      describeDecision(await decisionOn('right'))[0],
      /^Approved request right of system:node/,
    );
  });

  await t.test('leaves forged requests pending, with the rule that they violate', async (t) => {
    const forged: [string, string, () => Promise<unknown>][] = [
      [
        'by-other-node',
        'requestor',
        () => submit(otherKubelet, 'by-other-node', { subject: nameOf('worker-0') }),
      ],
      ['by-admin', 'requestor', () => submit(admin, 'by-admin')],
      [
        'more-names',
        'names',
        () =>
          submit(kubelet, 'more-names', {
            names: [
              { type: 'dns', value: nodeName },
              { type: 'dns', value: 'api-int.c.example.com' },
              { type: 'ip', value: '192.0.2.10' },
            ],
          }),
      ],
      [
        'client',
        'signer',
        () =>
          submit(kubelet, 'client', {
            names: [],
            spec: {
              signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
              usages: ['digital signature', 'client auth'],
            },
          }),
      ],
    ];
    for (const [name, rule, send] of forged) {
      await send();
      t.match(await decisionOn(name), { judgement: { verdict: 'leave', rule } }, name);
      const place = { name };
      const { status } = await admin.get(resources.certificateSigningRequests, place, limits);
      t.equal(status?.conditions, undefined, `${name} is undecided`);
    }
  });

  await t.test('decides again when the node gets another address', async (t) => {
    const names = [
      { type: 'dns' as const, value: nodeName },
      { type: 'ip' as const, value: '198.51.100.1' },
    ];
    await submit(kubelet, 'moved', { names });
    t.match(await decisionOn('moved'), { judgement: { rule: 'names' } });
    await setAddresses('198.51.100.1');
    t.match(await approvalOf('moved'), { status: 'True' });
  });

  await t.test('reports each decision once', async (t) => {
    const texts = decisions.map((decision) => JSON.stringify(decision));
    t.equal(new Set(texts).size, texts.length);
  });

  await t.test('ends when it is stopped', async (t) => {
    stop.abort(new Error('told to stop'));
    await t.rejects(running, /told to stop/);
  });
});

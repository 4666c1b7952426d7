import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ControlPlane } from '../../lab/servers/control-plane.ts';
import { makeTls, startEtcd } from '../../lab/servers/etcd-member.ts';
import { applyManifests } from '../../lib/clients/kube/apply.ts';
import { failedRows, failureTable } from '../../lib/clients/kube/apply-table.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { decodeManifests } from '../../lib/clients/kube/manifest-decoding.ts';
import { nodeReady } from '../../lib/clients/kube/node-ready.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { servingSigner } from '../../lib/clients/kube/signers.ts';
import { approveServingRequests } from '../../lib/cluster/csr/approver.ts';
import { userOfNode } from '../../lib/cluster/csr/checks.ts';
import { fingerprintOf } from '../../lib/cluster/csr/views.ts';
import { waitForPath } from '../../lib/host/watch.ts';
import { administrators } from '../../lib/pki/kubeconfig.ts';
import { definition } from '../apply/manifest-set.ts';
import { servingRequest } from './serving-request.ts';

/**
 * How long after an event the agents' own waits end, on real servers: each benchmark causes
 * the event itself and takes both times from one clock. The request that causes an event
 * counts as part of the delay, because the time at which the server acts on it is not visible.
 */
const ONE_MS = 30_000;
/** Longer than a wait takes to start. */
const SETTLED_MS = 500;
/** Polling interval to find out when a kind is first served. */
const LOOK_MS = 5;
const address = '192.0.2.10';

const secondsSince = (began: number) => (performance.now() - began) / 1000;
const within = (signal: AbortSignal) => ({ signal, deadlineMs: ONE_MS });

export async function fileReaction(folder: string, name: string, signal: AbortSignal) {
  const path = join(folder, name);
  const waiting = waitForPath(path, within(signal));
  await sleep(SETTLED_MS, undefined, { signal });
  const began = performance.now();
  await writeFile(path, '');
  await waiting;
  return secondsSince(began);
}

const etcdLogSchema = z.looseObject({ ts: z.string(), msg: z.string() });

/** From etcd's log line that it is serving to the answer that the step waits for. */
export async function etcdReaction(program: string, folder: string) {
  const args = ['--log-level', 'info'];
  const member = await startEtcd(program, folder, join(folder, 'data'), await makeTls(), { args });
  const answered = Date.now();
  await member.stop();
  const lines = (await readFile(join(folder, 'etcd.log'), 'utf8')).split('\n');
  const entries = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => etcdLogSchema.parse(JSON.parse(line)));
  const serving = entries.find(({ msg }) => msg === 'ready to serve client requests');
  if (serving === undefined) throw new Error('etcd did not log that it is serving');
  return Math.max(0, answered - Date.parse(serving.ts)) / 1000;
}

export async function nodeReaction(client: KubeClient, name: string, signal: AbortSignal) {
  const node = await client.create(
    resources.nodes,
    {},
    { apiVersion: 'v1', kind: 'Node', metadata: { name } },
    within(signal),
  );
  const options = { ...within(signal), bootTime: new Date(), report: () => {} };
  const waiting = nodeReady(client, name, options);
  await sleep(SETTLED_MS, undefined, { signal });
  const now = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now };
  const began = performance.now();
  await client.replace(
    resources.nodes,
    { name, subresource: 'status' },
    { ...node, status: { conditions: [ready] } },
    within(signal),
  );
  await waiting;
  return secondsSince(began);
}

/**
 * From the first API answer that the kind is served to the request for an object of it. Not to
 * the end of the request: the API server itself delays requests in the first two seconds of a
 * definition (apiextensions-apiserver, pkg/apiserver/customresource_handler.go).
 */
export async function kindReaction(
  controlPlane: ControlPlane,
  client: KubeClient,
  group: string,
  signal: AbortSignal,
) {
  const object = {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: 'one', namespace: 'default' },
  };
  const { manifests } = decodeManifests('widget.json', JSON.stringify(object));
  const options = { ...within(signal), concurrency: 1, report: () => {} };
  using applier = await controlPlane.client();
  const asked = timeOfCreate(applier);
  const applying = applyManifests(applier, { manifests, faults: [] }, options);
  await sleep(SETTLED_MS, undefined, { signal });
  const body = definition(group, 'widgets', 'Widget');
  await client.create(resources.customResourceDefinitions, {}, body, within(signal));
  const served = await firstServed(client, `${group}/v1`, signal);
  const rows = await applying;
  if (failedRows(rows).length > 0) throw new Error(failureTable(rows).join('\n'));
  return Math.max(0, (await asked) - served) / 1000;
}

/** The time of the client's first create request. */
function timeOfCreate(client: KubeClient): Promise<number> {
  const create = client.create.bind(client);
  const asked = Promise.withResolvers<number>();
  client.create = (...request) => {
    asked.resolve(performance.now());
    return create(...request);
  };
  return asked.promise;
}

async function firstServed(client: KubeClient, apiVersion: string, signal: AbortSignal) {
  for (;;) {
    const { code, body } = await client.raw(`/apis/${apiVersion}`, within(signal));
    if (code === 200 && body.includes('"Widget"')) return performance.now();
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** From the node's request to its approval, as accepted by the API. */
export async function approvalReaction(
  controlPlane: ControlPlane,
  nodeName: string,
  signal: AbortSignal,
) {
  using approver = await controlPlane.client({ name: 'approver', groups: [administrators] });
  const access = await controlPlane.access({
    name: userOfNode(nodeName),
    groups: ['system:nodes'],
  });
  using kubelet = new KubeClient(access);
  const ended = new AbortController();
  try {
    await registerNode(approver, nodeName, signal);
    const clientCertificate = fingerprintOf(access.certificate);
    const host = { nodeName, staticHostName: nodeName, nodeIps: [address], clientCertificate };
    const approved = Promise.withResolvers<void>();
    approveServingRequests(approver, {
      signal: AbortSignal.any([signal, ended.signal]),
      nodeName,
      host: async () => host,
      report: ({ judgement }) => {
        if (judgement.verdict === 'approve') approved.resolve();
        else approved.reject(new Error(`not approved: ${JSON.stringify(judgement)}`));
      },
    }).catch(approved.reject);
    await sleep(SETTLED_MS, undefined, { signal });
    const request = (await servingRequest(nodeName, address)).toString('base64');
    const usages = ['digital signature', 'server auth'];
    const body = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: nodeName },
      spec: { request, signerName: servingSigner, usages },
    };
    const began = performance.now();
    await kubelet.create(resources.certificateSigningRequests, {}, body, within(signal));
    await approved.promise;
    return secondsSince(began);
  } finally {
    ended.abort();
  }
}

async function registerNode(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  const node = await client.create(resources.nodes, {}, body, within(signal));
  const addresses = [{ type: 'InternalIP', address }];
  const place = { name, subresource: 'status' };
  await client.replace(resources.nodes, place, { ...node, status: { addresses } }, within(signal));
}

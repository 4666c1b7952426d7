import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { waitForApi } from '../../lib/clients/kube/api-ready.ts';
import { publishBootstrapComplete } from '../../lib/clients/kube/bootstrap-complete.ts';
import { deleteLeases } from '../../lib/clients/kube/leases.ts';
import { nodeReady } from '../../lib/clients/kube/node-ready.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { waitForSteadyState } from '../../lib/clients/kube/wait-for-steady-state.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';

const { signal } = new AbortController();
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const client = await controlPlane.client();
t.teardown(() => client[Symbol.dispose]());
const limits = { signal, deadlineMs: 10_000 };
const kubeSystem = { namespace: 'kube-system' };
const bootTime = new Date(Date.now() - 60_000);

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const create = (name: string) =>
  client.create(resources.configMaps, kubeSystem, configMap(name), limits);

function waitForConfigMap(name: string, deadlineMs: number, reports: string[] = []) {
  return watchUntil(
    client,
    resources.configMaps,
    kubeSystem,
    (objects) => objects.get(`kube-system/${name}`),
    {
      signal,
      deadlineMs,
      what: `ConfigMap ${name}`,
      describe: (objects) => (objects.has(`kube-system/${name}`) ? 'there' : 'not there'),
      report: (text) => reports.push(text),
    },
  );
}

t.test('a wait ends when the object is created', async (t) => {
  const waiting = waitForConfigMap('soon', 10_000);
  await sleep(300);
  await create('soon');
  t.match(await waiting, { metadata: { name: 'soon' } });
});

t.test('a wait ends at its deadline with the last observation', async (t) => {
  await t.rejects(waitForConfigMap('never', 400), {
    kind: 'deadline',
    message: /ConfigMap never; found not there/,
  });
});

t.test('a wait survives a restart of the API server', async (t) => {
  const reports: string[] = [];
  const waiting = waitForConfigMap('after-restart', 60_000, reports);
  await sleep(300);
  await controlPlane.stopApiServer();
  await t.rejects(
    waitForApi(client, { signal, deadlineMs: 300, report: () => {} }),
    { kind: 'deadline', message: /ECONNREFUSED/ },
    'meanwhile it is not ready',
  );
  await controlPlane.startApiServer();
  await create('after-restart');
  t.match(await waiting, { metadata: { name: 'after-restart' } });
  // Cut off while waiting, or refused between requests, depending on timing.
  t.match(reports.join('\n'), /^not there\nGET .*: (?:.*ECONN|aborted|socket hang up)/s);
});

t.test('the end of the bootstrap is published once', async (t) => {
  await publishBootstrapComplete(client, limits);
  await publishBootstrapComplete(client, limits);
  const place = { ...kubeSystem, name: 'bootstrap' };
  const { data, metadata } = await client.get(resources.configMaps, place, limits);
  t.same(data, { status: 'complete' });
  const failed = { ...configMap('bootstrap'), metadata, data: { status: 'failed' } };
  await client.replace(resources.configMaps, place, failed, limits);
  await t.rejects(publishBootstrapComplete(client, limits), {
    kind: 'fatal',
    message: /found status failed/,
  });
});

t.test('Leases are deleted, and missing ones are not an error', async (t) => {
  await putLease('kube-scheduler');
  const held = ['kube-scheduler', 'kube-controller-manager'];
  await deleteLeases(
    client,
    held.map((name) => ({ ...kubeSystem, name })),
    limits,
  );
  const { leases } = resources;
  t.equal(await client.find(leases, { ...kubeSystem, name: 'kube-scheduler' }, limits), undefined);
});

t.test('the control plane only settles on evidence from this boot', async (t) => {
  await client.create(
    resources.nodes,
    {},
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
    limits,
  );
  const ready = nodeReady(client, 'n1', { signal, deadlineMs: 20_000, bootTime, report: () => {} });
  await setNodeReady(new Date(bootTime.getTime() - 5000));
  await putStaticPod(0);
  const stop = new AbortController();
  const reports: string[] = [];
  const began = performance.now();
  const settled = waitForSteadyState(
    client,
    {
      nodeName: 'n1',
      bootTime,
      components: ['etcd'],
      leases: ['kube-scheduler'],
      settlingWindowMs: 3000,
    },
    { signal, deadlineMs: 60_000, report: (text) => reports.push(text) },
  );
  const renewing = renewLease(stop.signal);
  await sleep(1500);
  await setNodeReady(new Date());
  t.match(await ready, { metadata: { name: 'n1' } });
  await sleep(2000);
  await putStaticPod(1);
  const changed = performance.now();
  t.same(await settled, [{ pod: 'etcd-n1', container: 'etcd', count: 1 }]);
  stop.abort();
  await renewing;
  t.ok(performance.now() - changed >= 2900, 'the restart began the window anew');
  t.ok(performance.now() - began < 15_000, 'and it ends');
  t.match(reports.join('\n'), /from before this boot/);
  t.match(reports.join('\n'), /changed: .*etcd-n1\/etcd restarts: 0 -> 1/);
});

t.test('what does not settle is reported at the deadline', async (t) => {
  const required = {
    nodeName: 'n1',
    bootTime,
    components: ['etcd', 'kube-apiserver'],
    leases: [],
    settlingWindowMs: 1000,
  };
  await t.rejects(
    waitForSteadyState(client, required, { signal, deadlineMs: 2500, report: () => {} }),
    { kind: 'deadline', message: /pod kube-apiserver-n1 does not exist/ },
  );
});

async function setNodeReady(heartbeat: Date): Promise<void> {
  const node = await client.get(resources.nodes, { name: 'n1' }, limits);
  const time = `${heartbeat.toISOString().slice(0, 19)}Z`;
  const condition = { type: 'Ready', status: 'True', reason: 'Test', lastHeartbeatTime: time };
  const body = { ...node, status: { conditions: [condition] } };
  await client.replace(resources.nodes, { name: 'n1', subresource: 'status' }, body, limits);
}

async function putStaticPod(restarts: number): Promise<void> {
  const place = { ...kubeSystem, name: 'etcd-n1' };
  const hash = { 'kubernetes.io/config.mirror': 'h', 'kubernetes.io/config.hash': 'h' };
  const pod =
    (await client.find(resources.pods, place, limits)) ??
    (await client.create(
      resources.pods,
      kubeSystem,
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'etcd-n1', annotations: hash },
        spec: { nodeName: 'n1', containers: [{ name: 'etcd', image: 'etcd' }] },
      },
      limits,
    ));
  const container = {
    name: 'etcd',
    image: 'etcd',
    imageID: 'i',
    ready: true,
    restartCount: restarts,
    containerID: `containerd://${restarts}`,
    state: { running: { startedAt: new Date().toISOString() } },
  };
  const status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [container],
  };
  const body = { ...pod, status };
  await client.replace(resources.pods, { ...place, subresource: 'status' }, body, limits);
}

async function putLease(name: string): Promise<void> {
  const { leases } = resources;
  const now = new Date().toISOString().replace('Z', '000Z');
  const place = { ...kubeSystem, name };
  const before = await client.find(leases, place, limits);
  const spec = {
    holderIdentity: 'n1_a',
    leaseDurationSeconds: 15,
    acquireTime: now,
    renewTime: now,
  };
  if (before === undefined) {
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
    await client.create(leases, kubeSystem, body, limits);
  } else {
    const renewed = { ...before, spec: { ...before.spec, renewTime: now } };
    await client.replace(leases, place, renewed, limits);
  }
}

async function renewLease(stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    await putLease('kube-scheduler');
    await sleep(500, undefined, { signal: stopped }).catch(() => {});
  }
}

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startControlPlane } from '../../lab/servers/control-plane.ts';
import { Discovery } from '../../lib/clients/kube/discovery.ts';
import { objectSchema, resources } from '../../lib/clients/kube/resources.ts';
import { STEADY, steadyAccess } from '../../lib/clients/rights/steady.ts';
import { moving } from '../../lib/cluster/steady/finding.ts';
import { publishVerdict } from '../../lib/cluster/steady/publish.ts';
import type { SteadyVerdict } from '../../lib/cluster/steady/verdict.ts';
import { type SteadyWait, waitSteady } from '../../lib/cluster/steady/wait.ts';
import { NodeObjects, plain, put, seconds } from './node-objects.ts';

const { signal } = new AbortController();
const limits = { signal, deadlineMs: 10_000 };
const controlPlane = await startControlPlane(join(t.testdir(), 'control-plane'), signal);
t.teardown(() => controlPlane.stop());
const admin = await controlPlane.client();
t.teardown(() => admin[Symbol.dispose]());
/** As `wait-steady` does, with no other rights than its own. */
const client = await controlPlane.client({ name: STEADY, groups: [STEADY] });
t.teardown(() => client[Symbol.dispose]());

const kubeSystem = { namespace: 'kube-system' };
const bootTime = new Date(Date.now() - 60_000);
const subject = { nodeName: 'n1', bootTime, leases: ['kube-scheduler'] };
const rbac = 'rbac.authorization.k8s.io/v1';
const config = 'config.openshift.io';

const host = new NodeObjects(admin, 'n1', limits);

/** The fields of the kind as openshift/api has them are not needed: only its name and its status are. */
async function serveClusterVersions(): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const names = { kind: 'ClusterVersion', plural: 'clusterversions', singular: 'clusterversion' };
  await admin.create(
    resources.customResourceDefinitions,
    {},
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `clusterversions.${config}`,
        annotations: { 'api-approved.kubernetes.io': 'https://github.com/openshift/api/pull/1' },
      },
      spec: {
        group: config,
        scope: 'Cluster',
        names,
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
    },
    limits,
  );
  const kind = { apiVersion: `${config}/v1`, kind: 'ClusterVersion' };
  while ((await new Discovery(admin).find(kind, limits)) === undefined) await sleep(200);
}

const wait = async (change: Partial<SteadyWait> = {}): Promise<[SteadyVerdict, string]> => {
  const reports: string[] = [];
  const verdict = await waitSteady(client, subject, {
    windowMs: 1500,
    deadlineMs: 60_000,
    bootId: 'boot',
    scheduled: async () => [],
    signal,
    report: (text) => reports.push(text),
    ...change,
  });
  return [verdict, reports.join('\n')];
};

t.before(async () => {
  for (const object of steadyAccess()) {
    const { kind, metadata } = objectSchema.parse(object);
    const plural = `${String(kind).toLowerCase()}s`;
    await put(admin, plain(rbac, plural), metadata.namespace, objectSchema.parse(object), limits);
  }
  await host.node();
});

t.test('it is not steady without the evidence of this boot', async (t) => {
  const [verdict, reports] = await wait({ deadlineMs: 4000 });
  t.equal(verdict.state, 'unknown', 'no pod and no Lease');
  t.match(reports, /pods\.v1 is an empty list, which says nothing/);
  t.match(reports, /leases\.coordination\.k8s\.io\/v1/);
  await host.lease('kube-scheduler');
  await host.pod('kube-system', 'etcd-n1', new Date(bootTime.getTime() - 60_000));
  const [old] = await wait({ deadlineMs: 4000 });
  t.equal(old.state, 'unknown');
  t.match(old.findings, [{ object: 'Pod kube-system/etcd-n1', what: /before this boot/ }]);
});

t.test('it is steady once nothing has changed for the window', async (t) => {
  await host.pod('kube-system', 'etcd-n1', new Date());
  const [verdict] = await wait();
  t.match(verdict, { state: 'steady', findings: [], bootId: 'boot' });
  const lasted = Date.parse(verdict.time) - Date.parse(verdict.since ?? '');
  t.ok(lasted >= 1500, `${lasted} ms`);
});

t.test(
  'what moves is named with who moves it, and a planned restart is no steady state',
  async (t) => {
    const labels = { app: 'web' };
    await put(
      admin,
      plain('apps/v1', 'deployments'),
      'default',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [{ name: 'web', image: 'web' }] },
          },
        },
      },
      limits,
    );
    const [moves] = await wait({ deadlineMs: 4000 });
    t.equal(moves.state, 'moving');
    t.match(moves.findings, [
      {
        kind: 'moving',
        object: 'Deployment default/web',
        what: /its controller has seen none/,
        by: /^last changed by .+ at 2/,
      },
    ]);
    await admin.remove(
      plain('apps/v1', 'deployments'),
      { namespace: 'default', name: 'web' },
      limits,
    );
    const reboot = moving('The host', 'has a reboot scheduled');
    const [planned] = await wait({ deadlineMs: 4000, scheduled: async () => [reboot] });
    t.match(planned, { state: 'moving', findings: [reboot] });
  },
);

t.test('a ClusterVersion that nobody keeps up does not pass', async (t) => {
  await serveClusterVersions();
  const [empty] = await wait({ deadlineMs: 4000 });
  t.match(empty, { state: 'unknown', findings: [{ what: /empty list/ }] });
  const conditions = ['Available', 'Progressing', 'Failing'].map((type) => ({
    type,
    status: type === 'Available' ? 'True' : 'False',
    lastTransitionTime: seconds(new Date()),
  }));
  await put(
    admin,
    plain(`${config}/v1`, 'clusterversions'),
    undefined,
    {
      apiVersion: `${config}/v1`,
      kind: 'ClusterVersion',
      metadata: { name: 'version' },
      status: {
        observedGeneration: 1,
        history: [{ state: 'Completed', version: '4.21.0' }],
        conditions,
      },
    },
    limits,
  );
  const [planted] = await wait({ deadlineMs: 4000 });
  t.match(planted, {
    state: 'unknown',
    findings: [{ object: 'ClusterVersion version', what: /before this boot/ }],
  });
  const namespace = 'openshift-cluster-version';
  await put(
    admin,
    plain('v1', 'namespaces'),
    undefined,
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    },
    limits,
  );
  await host.pod(namespace, 'cluster-version-operator-1', new Date());
  const [kept] = await wait();
  t.equal(kept.state, 'steady');
});

t.test('it survives a restart of the API server, which starts the window again', async (t) => {
  const reports: string[] = [];
  const began = Date.now();
  const verdict = wait({ windowMs: 4000, report: (text) => reports.push(text) });
  while (!/^Settling/m.test(reports.join('\n'))) await sleep(50);
  await controlPlane.stopApiServer();
  while (!/^Unknown: The API/m.test(reports.join('\n'))) await sleep(50);
  await controlPlane.startApiServer();
  const restarted = Date.now();
  const [{ state, since }] = await verdict;
  t.equal(state, 'steady');
  t.ok(Date.parse(since ?? '') >= began);
  t.ok(Date.parse(since ?? '') >= restarted - 5000, 'not before it answered again');
});

t.test('the last verdict is in a ConfigMap, which is replaced', async (t) => {
  const place = { ...kubeSystem, name: 'sno-steady' };
  for (const windowMs of [1500, 1600]) {
    const [verdict] = await wait({ windowMs });
    await publishVerdict(client, verdict, limits);
    const { data } = await admin.get(resources.configMaps, place, limits);
    t.match(data, { state: 'steady', summary: /^Steady: nothing has changed since/ });
    t.same(JSON.parse(data?.verdict ?? ''), verdict);
  }
});

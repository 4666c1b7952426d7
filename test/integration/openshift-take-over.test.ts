/**
 * The steps of the installed host of OpenShift against the API server of its fork, with the
 * controllers of its static pod operators. No kubelet runs: the test does what a node does with
 * installer pods. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: the same steps on an API that only answers, test/unit/agents/post-reboot/openshift.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { handOver } from '../../agents/post-reboot/openshift/hand-over.ts';
import { installComplete } from '../../agents/post-reboot/openshift/install-complete.ts';
import { restoreOverrides } from '../../agents/post-reboot/openshift/restore-overrides.ts';
import { takeOver } from '../../agents/post-reboot/openshift/take-over.ts';
import { withdrawRights } from '../../agents/post-reboot/openshift/withdraw-rights.ts';
import { bootstrapComplete } from '../../agents/steps/bootstrap-complete.ts';
import { complete } from '../../agents/steps/complete.ts';
import { readRevisions } from '../../agents/steps/revisions.ts';
import { OPERATOR_CRDS, openshiftApi, PAYLOAD_CRDS } from '../../lab/components/openshift/api.ts';
import { openshiftKubernetes } from '../../lab/components/openshift/kubernetes.ts';
import { STATIC_POD_OPERATOR } from '../../lab/components/openshift/release-operators.ts';
import { staticPodOperator } from '../../lab/components/openshift/static-pod-operator.ts';
import { startDaemon } from '../../lab/servers/daemon.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { installationStatusSchema } from '../../lib/clients/kube/installation-status.ts';
import { resourcePath, resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { clusterResources, staticPodOperators } from '../../lib/cluster/openshift/operators.ts';
import { agentIdentities, csrApprover } from '../../lib/render/openshift/agent-identities.ts';
import { bootstrapPodsFile } from '../../lib/render/openshift/bootstrap-pods.ts';
import { accessFor } from '../../lib/render/openshift/installed-access.ts';
import { kubeconfigs } from '../unit/agents/host/api.ts';
import { testHost } from '../unit/agents/host/host.ts';
import { bootstrapKubeconfig } from '../unit/agents/post-reboot/openshift/cluster-objects.ts';
import { NODE } from '../unit/cluster/openshift/states.ts';
import { cachedFolder } from './openshift/cached.ts';
import { startForkApiServer } from './openshift/fork-api-server.ts';
import { runInstallerPods } from './openshift/node-stand-in.ts';

const LIFETIME_MS = 900_000;
const components = [openshiftKubernetes, openshiftApi, staticPodOperator];
const folders = await Promise.all(components.map(cachedFolder));
const missing = components.filter((_, index) => folders[index] === undefined);
const skip =
  missing.length === 0 ? false : `not built: ${missing.map(({ name }) => name).join(', ')}`;

t.test('the operators take over the static pods', { skip, timeout: LIFETIME_MS }, async (t) => {
  const [kubernetes = '', api = '', operators = ''] = folders;
  const server = await startForkApiServer(t, kubernetes, LIFETIME_MS);
  const { folder, controlPlane, admin, limits, apply } = server;
  const { signal } = limits;
  for (const name of [
    ...[
      '0000_12_etcd_01_etcds-Default',
      '0000_20_kube-apiserver_01_kubeapiservers-Default',
      '0000_25_kube-controller-manager_01_kubecontrollermanagers',
      '0000_25_kube-scheduler_01_kubeschedulers',
      '0000_10_config-operator_01_infrastructures-Default',
    ].map((file) => `${PAYLOAD_CRDS}/${file}`),
    ...['clusteroperators', 'clusterversions-Default'].map(
      (file) => `${OPERATOR_CRDS}/0000_00_cluster-version-operator_01_${file}`,
    ),
  ]) {
    await apply(name, await readFile(join(api, `${name}.crd.yaml`), 'utf8'));
  }
  for (const { name, contents } of agentIdentities()) await apply(name, contents);
  const object = (kind: string, name: string, more: object = {}, apiVersion = 'v1') =>
    apply(name, JSON.stringify({ apiVersion, kind, metadata: { name }, ...more }));
  const config = 'config.openshift.io/v1';
  await object('Node', NODE, {
    metadata: { name: NODE, labels: { 'node-role.kubernetes.io/master': '' } },
  });
  await object('Infrastructure', 'cluster', { spec: {} }, config);
  await object(
    'ClusterVersion',
    'version',
    { spec: { clusterID: '6d3a53a1-6e3a-4d3c-8b4a-0a2b8b6a1f00' } },
    config,
  );
  const staticPodOf = (pod: string, change = '') =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: pod, labels: { revision: 'REVISION' } },
      spec: { containers: [{ name: pod, image: `x${change}` }] },
    });
  const manifestOf = (component: string) => `${component}-pod`;
  for (const { component, namespace, pod } of staticPodOperators) {
    await object('Namespace', namespace);
    await object('Namespace', `${namespace}-operator`);
    await object('ServiceAccount', 'default', { metadata: { name: 'default', namespace } });
    await object('ConfigMap', manifestOf(component), {
      metadata: { name: manifestOf(component), namespace },
      data: { 'pod.yaml': staticPodOf(pod) },
    });
  }

  const host = testHost(t, { cluster: { controlPlane: 'openshift' }, hostname: NODE });
  const kubeconfig = await controlPlane.kubeconfig({ name: 'admin', groups: ['system:masters'] });
  for (const path of [bootstrapKubeconfig, kubeconfigs.bootstrapAdmin]) {
    host.write(path, kubeconfig, 0o600);
  }
  const { path, contents } = bootstrapPodsFile([]);
  host.write(path, contents);
  const adminPath = join(folder, 'admin.kubeconfig');
  await writeFile(adminPath, kubeconfig, { mode: 0o600 });

  await t.test(
    'the agents act for users with the rights that they need, and no others',
    async (t) => {
      using approver = new KubeClient(await accessFor(host.paths, csrApprover));
      t.same((await approver.list(resources.certificateSigningRequests, {}, limits)).items, []);
      t.equal((await approver.list(resources.nodes, {}, limits)).items.length, 1);
      await t.rejects(approver.list(resources.secrets, {}, limits), /forbidden/);
      await t.rejects(
        approver.create(resources.configMaps, { namespace: 'kube-system' }, {}, limits),
        /forbidden/,
      );
    },
  );

  await t.test('bootstrap-complete, restore-overrides', async (t) => {
    host.write('/opt/openshift/original_cvo_overrides.patch', '{"spec":{"channel":"stable-4.21"}}');
    t.same(await host.run(restoreOverrides), { kind: 'done' });
    const version = resourcePath(clusterResources.versions, { name: 'version' });
    t.match(await admin.json({ method: 'GET', path: version }, limits), {
      spec: { channel: 'stable-4.21' },
    });
    t.same(await host.run(bootstrapComplete), { kind: 'done' });
    const place = { namespace: 'kube-system', name: 'bootstrap' };
    t.match(await admin.get(resources.configMaps, place, limits), { data: { status: 'complete' } });
  });

  t.ok(await host.waitsFor(takeOver, /etcd: its operator has not started/), 'no operator yet');

  // The operators' environment is this process's.
  process.env.OPERATOR_IMAGE = 'registry.test/static-pod-operator:1';
  t.teardown(() => delete process.env.OPERATOR_IMAGE);
  for (const { component } of staticPodOperators) {
    const daemon = startDaemon(
      join(operators, STATIC_POD_OPERATOR),
      ['operator', `--component=${component}`, `--kubeconfig=${adminPath}`, '--v=2'],
      join(folder, `${component}-operator.log`),
      LIFETIME_MS,
    );
    t.teardown(() => daemon.stop());
  }

  await t.test('without a node the first revisions are to be installed', async (t) => {
    const says = /etcd: the bootstrap's pod runs, revision 1 is being installed/;
    t.ok(await host.waitsFor(takeOver, says), host.lines.join(''));
    const namespace = 'openshift-etcd';
    const what = `installer-1-${NODE}`;
    const installer = await watchUntil(
      admin,
      resources.pods,
      { namespace },
      (pods) => pods.get(`${namespace}/${what}`),
      { ...limits, what, describe: () => 'no pod', report: () => undefined },
    );
    t.match(JSON.stringify(installer), /static-pod-operator/);
  });

  for (const operator of staticPodOperators) {
    runInstallerPods(admin, operator, signal).catch(() => undefined);
  }

  await t.test('take-over ends when the static pods of all operators run', async (t) => {
    const outcome = await host.run(takeOver);
    t.match(outcome, { kind: 'done', note: /etcd \d+, kube-apiserver \d+, .*kube-scheduler \d+/ });
    for (const { component } of staticPodOperators) {
      t.match(host.lines.join(''), `${component}: revision 1: the operator's first`);
    }
    t.same(await host.run(handOver), { kind: 'done', note: 'all replaced in place' });
  });

  await t.test('install-complete waits for the version and for a newer revision', async (t) => {
    t.ok(await host.waitsFor(installComplete, /the version has no condition Available/));
    const version = await admin.get(clusterResources.versions, { name: 'version' }, limits);
    const condition = (type: string, status: string) => ({
      type,
      status,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    await admin.replace(
      clusterResources.versions,
      { name: 'version', subresource: 'status' },
      {
        ...version,
        status: {
          desired: { version: '4.21.0', image: 'x' },
          observedGeneration: 1,
          versionHash: 'x',
          availableUpdates: null,
          conditions: [
            condition('Available', 'True'),
            condition('Failing', 'False'),
            condition('Progressing', 'False'),
          ],
        },
      },
      limits,
    );
    const place = { namespace: 'openshift-etcd', name: manifestOf('etcd') };
    const body = {
      ...(await admin.get(resources.configMaps, place, limits)),
      data: { 'pod.yaml': staticPodOf('etcd', ' changed') },
    };
    await admin.replace(resources.configMaps, place, body, limits);
    t.match(await host.run(installComplete), { kind: 'done' });
    const revisions = await readRevisions(host.paths);
    t.match(
      revisions.filter(({ component }) => component === 'etcd'),
      [
        { revision: 1, reason: "the operator's first" },
        { revision: 2, reason: /configmap\/etcd-pod has changed/ },
      ],
    );
  });

  await t.test('complete, and no role of the approver is left', async (t) => {
    t.same(await host.run(withdrawRights), { kind: 'done' });
    using approver = new KubeClient(await accessFor(host.paths, csrApprover));
    await t.rejects(approver.list(resources.nodes, {}, limits), /forbidden/);
    t.same(await host.run(complete), { kind: 'done' });
    const place = { namespace: 'kube-system', name: 'sno-installation' };
    const { data } = await admin.get(resources.configMaps, place, limits);
    t.match(installationStatusSchema.parse(data), { state: 'complete' });
  });
});

/**
 * How many revisions the static pod operators need: with what they observe rendered into the cluster, and
 * with it left out until the operators that own it would add it. library-go's controllers with OpenShift's
 * API server; no kubelet runs: the test does what a node does with installer pods. Needs components that
 * `npm run lab -- --scenario openshift-components` builds.
 *
 * It is the operators that are tried here, which the product only watches: that runs everywhere in test/unit/cluster/openshift and
 * test/unit/agents/post-reboot/openshift.
 */

import type { Test } from 'tap';
import t from 'tap';
import { parse } from 'yaml';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../../lib/clients/kube/watch-objects.ts';
import { staticPodOperators } from '../../../lib/cluster/openshift/operators.ts';
import { NODE } from '../../unit/cluster/openshift/states.ts';
import { runInstallerPods } from './node-stand-in.ts';
import { notBuilt, type RenderedCluster, startRenderedCluster } from './rendered-cluster.ts';

const LIFETIME_MS = 900_000;
const skip = await notBuilt();

type Inputs = Parameters<typeof startRenderedCluster>[1];

async function start(t: Test, inputs: Inputs): Promise<RenderedCluster> {
  const cluster = await startRenderedCluster(t, inputs, LIFETIME_MS);
  for (const operator of staticPodOperators) {
    const { namespace } = operator;
    const metadata = { name: 'default', namespace };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    await cluster.apply('service account', JSON.stringify(account));
    runInstallerPods(cluster.admin, operator, cluster.limits.signal).catch(() => undefined);
  }
  await cluster.startOperators();
  return cluster;
}

/** Waits until the static pod of that revision, or of a later one, runs. */
async function runs({ admin, limits }: RenderedCluster, component: string, revision: number) {
  const { namespace = '', pod } =
    staticPodOperators.find((each) => each.component === component) ?? {};
  const what = `revision ${revision} of ${component}`;
  await watchUntil(
    admin,
    resources.pods,
    { namespace },
    (pods) =>
      Number(pods.get(`${namespace}/${pod}-${NODE}`)?.metadata.labels?.revision ?? 0) >= revision ||
      undefined,
    { ...limits, deadlineMs: LIFETIME_MS, what, describe: () => 'no pod', report: () => undefined },
  );
}

/** `--cluster-cidr` of the controller-manager in that revision. */
async function networksIn({ admin, limits }: RenderedCluster, revision: number): Promise<unknown> {
  const place = { namespace: 'openshift-kube-controller-manager', name: `config-${revision}` };
  const { data } = await admin.get(resources.configMaps, place, limits);
  return parse(data?.['config.yaml'] ?? '').extendedArguments['cluster-cidr'];
}

/** The newest revision of each component. */
async function revisions({ admin, limits }: RenderedCluster): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { component, namespace } of staticPodOperators) {
    const { items } = await admin.list(resources.configMaps, { namespace }, limits);
    const numbers = items.map(({ metadata: { name } }) =>
      Number(/^revision-status-(\d+)$/.exec(name)?.[1] ?? 0),
    );
    found[component] = Math.max(0, ...numbers);
  }
  return found;
}

t.test(
  'with what they observe in the cluster, one each',
  { skip, timeout: LIFETIME_MS },
  async (t) => {
    const cluster = await start(t, 'rendered');
    for (const { component } of staticPodOperators) await runs(cluster, component, 1);
    t.match(await networksIn(cluster, 1), ['10.128.0.0/14'], 'the first has the networks');
    const found = await revisions(cluster);
    t.comment(JSON.stringify(found));
    t.same(found, {
      etcd: 1,
      'kube-apiserver': 1,
      'kube-controller-manager': 1,
      'kube-scheduler': 1,
    });
  },
);

t.test(
  'left out, the API server waits and the controller-manager has a second one',
  { skip, timeout: LIFETIME_MS },
  async (t) => {
    const cluster = await start(t, 'left out');
    for (const component of ['etcd', 'kube-controller-manager', 'kube-scheduler']) {
      await runs(cluster, component, 1);
    }
    t.equal((await revisions(cluster))['kube-apiserver'], 0, 'it knows no member of etcd');
    t.match(await networksIn(cluster, 1), [''], 'the first has no networks');
    await cluster.addEtcdEndpoints();
    await cluster.addNetworkStatus();
    await runs(cluster, 'kube-apiserver', 1);
    await runs(cluster, 'kube-controller-manager', 2);
    const { 'kube-controller-manager': second = 0, ...found } = await revisions(cluster);
    t.comment(JSON.stringify({ ...found, 'kube-controller-manager': second }));
    t.same(found, { etcd: 1, 'kube-apiserver': 1, 'kube-scheduler': 1 });
    // The configuration, and the arguments of the pod: in one revision or in two.
    t.ok(second === 2 || second === 3, `${second} revisions of the controller-manager`);
    t.match(await networksIn(cluster, second), ['10.128.0.0/14']);
  },
);

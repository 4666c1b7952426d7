import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { type Pod, resources } from '../../../lib/clients/kube/resources.ts';
import { watchObjects } from '../../../lib/clients/kube/watch-objects.ts';
import type { StaticPodOperator } from '../../../lib/cluster/openshift/operators.ts';
import { AFTER_BOOT, NODE } from '../../unit/cluster/openshift/states.ts';

const limits = (signal: AbortSignal) => ({ signal, deadlineMs: 30_000 });
const ready = [{ type: 'Ready', status: 'True' }];

/**
 * Does for one operator what a node would: an installer pod that is bound to it succeeds, and then the
 * static pod of that revision runs.
 */
export async function runInstallerPods(
  client: KubeClient,
  { namespace, pod }: StaticPodOperator,
  signal: AbortSignal,
): Promise<never> {
  const done = new Set<string>();
  for await (const { objects } of watchObjects(client, resources.pods, { namespace }, signal)) {
    for (const installer of objects.values()) {
      const { name } = installer.metadata;
      const revision = /^installer-(\d+)-/.exec(name)?.[1];
      if (revision === undefined || done.has(name)) continue;
      done.add(name);
      await runStaticPod(client, namespace, pod, revision, signal);
      await setStatus(client, installer, { phase: 'Succeeded' }, signal);
    }
  }
  throw new Error('the watch has ended');
}

/** As the kubelet shows a static pod; the one of an earlier revision is gone. */
async function runStaticPod(
  client: KubeClient,
  namespace: string,
  pod: string,
  revision: string,
  signal: AbortSignal,
): Promise<void> {
  const name = `${pod}-${NODE}`;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`;
  await client.json({ method: 'DELETE', path }, limits(signal)).catch(() => undefined);
  const created = await client.create(
    resources.pods,
    { namespace },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { revision } },
      spec: { nodeName: NODE, containers: [{ name: pod, image: 'x' }] },
    },
    limits(signal),
  );
  const running = { name: pod, image: 'x', imageID: 'x', ready: true, restartCount: 0 };
  const containerStatuses = [{ ...running, state: { running: { startedAt: AFTER_BOOT } } }];
  const status = { phase: 'Running', conditions: ready, containerStatuses };
  await setStatus(client, created, status, signal);
}

async function setStatus(
  client: KubeClient,
  { metadata: { name, namespace } }: Pod,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const place = { namespace, name };
  const newest = await client.get(resources.pods, place, limits(signal));
  const body = { ...newest, status: { ...newest.status, ...status } };
  await client.replace(resources.pods, { ...place, subresource: 'status' }, body, limits(signal));
}

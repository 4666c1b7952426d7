import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { sinceMonotonicMs, unitProperties } from '../../../lib/host/systemd.ts';
import { inventory } from '../../../lib/render/kubernetes/inventory.ts';
import { kubeletPaths } from '../../../lib/render/kubernetes/kubelet.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { type PodOnHost, podsIn } from '../../steps/control-plane-pods.ts';
import { withPresentFiles } from '../../steps/read-once.ts';
import type { RotateContext } from './context.ts';
import { podReady } from './pod-ready.ts';
import {
  type ApiServerHost,
  endSurge,
  replaceApiServer,
  whyNoSurge,
} from './replace-api-server.ts';
import { replaceEtcd } from './replace-etcd.ts';
import { replacePod } from './replace-pod.ts';

const KUBELET_SETTLES_MS = 20_000;

/** The kubelet uses what it requests at once, and reads what others write only when it starts. */
const ofKubelet: readonly string[] = [kubeletPaths.clientPair, kubeletPaths.servingPair];

/** What a change of these files restarts: programs that read one of them only when they start. */
export function restartedBy(paths: readonly string[]): string[] {
  const read = inventory.filter(
    ({ path, takeUp }) => paths.includes(path) && (takeUp !== 'itself' || ofKubelet.includes(path)),
  );
  return [...new Set(read.flatMap(({ usedBy }) => usedBy))].toSorted();
}

/**
 * Starts each static pod anew that has not read the present contents of a file that its program reads
 * once, one after the other, and waits until every pod of the control plane runs with them and is
 * ready. All others keep running. Where the host has the means, a second API server answers while the first one is
 * replaced.
 *
 * @param restarts is told the name of each before it is started anew.
 * @throws Failure (deadline) with the state of the pod.
 */
export async function startStalePods(
  context: RotateContext,
  restarts: (name: string) => Promise<void>,
  progress: Progress,
): Promise<void> {
  const { paths } = context;
  for (const pod of await podsIn(paths.staticPods)) {
    const fresh = { ...pod, manifest: await withPresentFiles(paths, pod) };
    if (fresh.manifest !== pod.manifest) {
      await kubeletSettled(progress);
      progress.say(`Restarting ${pod.component}, which has not read the present files`);
      await restarts(pod.component);
      await replace(context, fresh, progress);
    }
    await podReady(context, fresh, progress);
    if (pod.component === 'kube-apiserver') await endSurge(apiServerHost(context), progress);
  }
}

async function replace(context: RotateContext, pod: PodOnHost, progress: Progress): Promise<void> {
  const { paths } = context;
  if (pod.component === 'etcd') return replaceEtcd(context, pod, progress);
  if (pod.component !== 'kube-apiserver') return replacePod(paths, pod, progress);
  const obstacle = await whyNoSurge(paths);
  if (obstacle === undefined) return replaceApiServer(apiServerHost(context), pod, progress);
  progress.say(`Nothing answers while the API server restarts: ${obstacle}`);
  await replacePod(paths, pod, progress);
}

const apiServerHost = (context: RotateContext): ApiServerHost => ({
  paths: context.paths,
  cluster: context.cluster,
  runNft: context.runNft,
  ready: (pod, progress) => podReady(context, pod, progress),
});

/**
 * A static pod whose manifest changes while a new kubelet still takes over the running pods is stopped
 * two minutes later: the kubelet waits for volumes that it has already forgotten (seen with 1.34).
 */
async function kubeletSettled(progress: Progress): Promise<void> {
  const since = 'ActiveEnterTimestampMonotonic';
  const properties = await unitProperties('kubelet.service', [since], progress.signal);
  const activeMs = sinceMonotonicMs(properties[since] ?? '0');
  if (activeMs >= KUBELET_SETTLES_MS) return;
  await progress.wait('the kubelet to take over the running pods', () =>
    sleep(KUBELET_SETTLES_MS - activeMs, undefined, { signal: progress.signal }),
  );
}

/** Waits until every pod of the control plane is ready, as it is. @throws Failure (fatal, deadline) */
export async function everyPodReady(context: RotateContext, progress: Progress): Promise<void> {
  const pods = await podsIn(context.paths.staticPods);
  const missing = components.filter((name) => !pods.some(({ component }) => component === name));
  if (missing.length > 0) {
    throw new Failure('fatal', `the host has no static pod of ${missing.join(', ')}`, {
      subject: context.paths.staticPods,
      fix: 'Put its manifest back, or restore a backup of it.',
    });
  }
  for (const pod of pods) await podReady(context, pod, progress);
}

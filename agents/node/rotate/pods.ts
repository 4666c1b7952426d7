import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, Failure } from '../../../lib/errors/failure.ts';
import { readTextIfPresent, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { unitProperties } from '../../../lib/host/systemd.ts';
import { type Pod, resources } from '../../../lib/kube/resources.ts';
import { inventory } from '../../../lib/render/kubernetes/inventory.ts';
import { kubeletPaths } from '../../../lib/render/kubernetes/kubelet.ts';
import {
  READ_ONCE_ANNOTATION,
  readOnceOf,
  readOncePaths,
  withReadOnce,
} from '../../../lib/render/kubernetes/read-once.ts';
import {
  type Component,
  components,
  manifestFile,
} from '../../../lib/render/kubernetes/static-pod.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import { type RotateContext, withAdministrator } from './context.ts';

const POLL_MS = 1000;
const REQUEST_MS = 10_000;
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
 * ready. All others keep running.
 *
 * @throws Failure (deadline) with the state of the pod.
 */
export async function startStalePods(context: RotateContext, progress: Progress): Promise<void> {
  for (const component of components) {
    const path = join(context.paths.staticPods, manifestFile(component));
    const manifest = await readFile(path, 'utf8');
    const contents = await readOnceContents(context.paths, component);
    const fresh = withReadOnce({ component, manifest }, contents);
    if (fresh !== manifest) {
      await kubeletSettled(progress);
      progress.say(`Restarting ${component}, which has not read the present files`);
      await writeFileAtomic(path, fresh, 0o600);
    }
    await podReady(context, component, readOnceOf(fresh), progress);
  }
}

/**
 * A static pod whose manifest changes while a new kubelet still takes over the running pods is stopped
 * two minutes later: the kubelet waits for volumes that it has already forgotten (seen with 1.34).
 */
async function kubeletSettled(progress: Progress): Promise<void> {
  const since = 'ActiveEnterTimestampMonotonic';
  const properties = await unitProperties('kubelet.service', [since], progress.signal);
  const activeMs =
    Number(process.hrtime.bigint() / 1_000_000n) - Number(properties[since] ?? 0) / 1000;
  if (activeMs >= KUBELET_SETTLES_MS) return;
  await progress.wait('the kubelet to take over the running pods', () =>
    sleep(KUBELET_SETTLES_MS - activeMs, undefined, { signal: progress.signal }),
  );
}

/** Whether every pod of the control plane is ready, as it is. @throws Failure (deadline) otherwise. */
export async function everyPodReady(context: RotateContext, progress: Progress): Promise<void> {
  for (const component of components) await podReady(context, component, undefined, progress);
}

async function readOnceContents(
  paths: HostPaths,
  component: Component,
): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const path of readOncePaths(component)) {
    const text = await readTextIfPresent(paths.at(path));
    if (text !== undefined) contents.set(path, text);
  }
  return contents;
}

/** Asks the API server: the mirror pod has the annotation of the pod that the kubelet runs. */
async function podReady(
  context: RotateContext,
  component: Component,
  readOnce: string | undefined,
  progress: Progress,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    const state = await stateOf(context, component, readOnce, progress);
    if (state === 'ready') return;
    progress.signal.throwIfAborted();
    if (performance.now() - began > context.settings.rotatePodMs) {
      const seconds = Math.round(context.settings.rotatePodMs / 1000);
      throw new Failure('deadline', `${component} is not ready after ${seconds} s`, {
        subject: component,
        found: state,
      });
    }
    await progress.wait(`${component} to be ready: ${state}`, () =>
      sleep(POLL_MS, undefined, { signal: progress.signal }),
    );
  }
}

async function stateOf(
  context: RotateContext,
  component: Component,
  readOnce: string | undefined,
  progress: Progress,
): Promise<string> {
  const place = { namespace: 'kube-system', name: `${component}-${context.hostname()}` };
  try {
    const pod = await withAdministrator(context, progress, (client) =>
      client.find(resources.pods, place, { signal: progress.signal, deadlineMs: REQUEST_MS }),
    );
    return stateOfPod(pod, readOnce);
  } catch (error) {
    progress.signal.throwIfAborted();
    return describeError(error);
  }
}

function stateOfPod(pod: Pod | undefined, readOnce: string | undefined): string {
  if (pod === undefined) return 'it has no pod';
  const { metadata, status } = pod;
  if (readOnce !== undefined && metadata.annotations?.[READ_ONCE_ANNOTATION] !== readOnce) {
    return 'the kubelet has not started the changed pod';
  }
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True' && metadata.deletionTimestamp === undefined) return 'ready';
  const waiting = status?.containerStatuses
    ?.map(({ state }) => state?.waiting)
    .find((each) => each !== undefined);
  return waiting?.message ?? waiting?.reason ?? ready?.message ?? ready?.reason ?? 'not ready';
}

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exists, namesIn } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { replacing } from '../../../lib/render/kubernetes/read-once.ts';
import type { Component } from '../../../lib/render/kubernetes/static-pod.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import type { PlacedPod } from '../../steps/control-plane-pods.ts';
import { placeStaticPod } from '../../steps/static-pods.ts';

const POLL_MS = 100;
/** More than the longest grace period of a static pod. */
const STOP_MS = 2 * 60_000;

/**
 * Replaces a static pod by one with another manifest. The kubelet stops the earlier pod at once, but then
 * looks only every 10 to 15 s whether the new one may start (its backOffPeriod), while the API server is
 * down. A pod that it hears of after the earlier one is gone starts at once. So the manifest is placed with
 * an annotation more, which makes the kubelet stop the earlier pod, and without it when that is gone. If this
 * process ends in between, the kubelet starts the first of both.
 */
export async function replacePod(
  paths: HostPaths,
  pod: Pick<PlacedPod, 'component' | 'file' | 'manifest'>,
  progress: Progress,
): Promise<void> {
  const { component, file, manifest } = pod;
  const earlier = await podsOf(paths, component);
  if (earlier.length > 0) {
    await placeStaticPod(paths, { file, manifest: replacing(manifest) });
    const isGone = await progress.wait(`the earlier pod of ${component} to stop`, () =>
      areGone(paths, component, earlier, progress.signal),
    );
    if (!isGone) return;
  }
  await placeStaticPod(paths, pod);
}

/** False if the kubelet has started the next pod by itself, or does not stop the earlier ones. */
async function areGone(
  paths: HostPaths,
  component: Component,
  earlier: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + STOP_MS;
  // Twice: the next pod may have got its folder while the others were looked at.
  for (let empty = 0; empty < 2; ) {
    const present = await podsOf(paths, component);
    const isStarted = present.some((uid) => !earlier.includes(uid));
    if (isStarted || performance.now() > until) return false;
    empty = present.length === 0 ? empty + 1 : 0;
    if (empty === 0) await sleep(POLL_MS, undefined, { signal });
  }
  return true;
}

/**
 * The uids of a component's pods for which the kubelet has a folder: from before it creates the container
 * until it has released everything.
 */
async function podsOf({ kubelet }: HostPaths, component: Component): Promise<string[]> {
  const folder = join(kubelet, 'pods');
  const uids: string[] = [];
  for (const uid of await namesIn(folder)) {
    if (await exists(join(folder, uid, 'containers', component))) uids.push(uid);
  }
  return uids;
}

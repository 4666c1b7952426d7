import { join } from 'node:path';
import { holds, lookUntil } from '../../../lib/base/wait/wait-until.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { exists, namesIn } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { replacing } from '../../../lib/render/kubernetes/read-once.ts';
import type { Component } from '../../../lib/render/kubernetes/static-pod.ts';
import type { PodOnHost } from '../../steps/control-plane-pods.ts';
import { placeStaticPod } from '../../steps/static-pods.ts';

const POLL_MS = 100;
/** More than the longest grace period of a static pod. */
const STOP_MS = 2 * 60_000;
/** The kubelet forgets a pod that has ended in its housekeeping, every 2 s. */
const FORGET_MS = 1000;
/** Enough for several times that, even on a busy host. */
const ATTEMPTS = 10;

/**
 * Replaces a static pod by one with another manifest. The kubelet stops the earlier pod at once. It starts a
 * static pod only when it has forgotten the earlier one, and otherwise looks again after 10 to 15 s (its
 * backOffPeriod), while the API server is down. A pod that it hears of later starts at once. So the manifest is
 * placed with an annotation, which makes the kubelet stop the earlier pod, again with another value when that is
 * gone, and then once a second until the kubelet starts it. If this process ends in between, the
 * kubelet starts the last one of them.
 */
export async function replacePod(
  paths: HostPaths,
  pod: Pick<PodOnHost, 'component' | 'file' | 'manifest'>,
  progress: Progress,
): Promise<void> {
  const { component, file, manifest } = pod;
  const { signal } = progress;
  const known = await staticPodsIn(paths);
  const earlier = await podsOf(paths, component, known);
  if (earlier.length === 0) return placeStaticPod(paths, pod);
  await placeStaticPod(paths, { file, manifest: replacing(manifest, 0) });
  const isGone = async () => {
    const present = await staticPodsIn(paths);
    return hasNew(present, known) || !earlier.some((uid) => present.includes(uid));
  };
  await progress.wait(`the earlier pod of ${component} to stop`, () =>
    lookUntil(holds(isGone, 'it is there'), { signal, deadlineMs: STOP_MS, everyMs: POLL_MS }),
  );
  const isStarted = async () => hasNew(await staticPodsIn(paths), known);
  await progress.wait(`the kubelet to start ${component}`, async () => {
    for (let attempt = 1; attempt <= ATTEMPTS && !(await isStarted()); attempt++) {
      await placeStaticPod(paths, { file, manifest: replacing(manifest, attempt) });
      const options = { signal, deadlineMs: FORGET_MS, everyMs: POLL_MS };
      await lookUntil(holds(isStarted, 'it has not started'), options);
    }
  });
}

const hasNew = (present: readonly string[], known: readonly string[]): boolean =>
  present.some((uid) => !known.includes(uid));

/**
 * The uids of the static pods for which the kubelet has a folder: from when it lets them start until it has
 * released everything. They are hashes of their manifests, without the hyphens of other pods' uids.
 */
async function staticPodsIn({ kubelet }: HostPaths): Promise<string[]> {
  return (await namesIn(join(kubelet, 'pods'))).filter((uid) => /^[0-9a-f]{32}$/.test(uid));
}

async function podsOf(
  { kubelet }: HostPaths,
  component: Component,
  uids: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const uid of uids) {
    if (await exists(join(kubelet, 'pods', uid, 'containers', component))) found.push(uid);
  }
  return found;
}

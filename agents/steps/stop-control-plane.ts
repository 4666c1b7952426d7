import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { removeFile, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { stopUnit } from '../../lib/host/systemd.ts';
import { components } from '../../lib/render/kubernetes/static-pod.ts';
import { podsIn } from './control-plane-pods.ts';
import { stopContainers } from './static-pods.ts';

/** What the API server gets for its last requests, and more than the others get. */
const GRACE_SECONDS = 75;

/** Each after what depends on it. */
const STOP_ORDER = [
  ['kube-controller-manager', 'kube-scheduler'],
  ['kube-apiserver'],
  ['etcd'],
] as const;

/**
 * Stops every client of etcd, then etcd, after their manifests were moved to the folder `moved`. The kubelet is stopped
 * first and stays so: it would release volumes, end sandboxes and ask the API server about each pod, all of which the
 * same pods need again at once. The containers of workloads go on.
 *
 * @throws Failure (fatal) if one is missing; nothing was changed.
 */
export async function stopControlPlane(
  paths: HostPaths,
  moved: string,
  progress: Progress,
): Promise<void> {
  const placed = await podsIn(paths.staticPods);
  const known = [...placed, ...(await podsIn(moved))];
  const missing = components.filter((name) => !known.some(({ component }) => component === name));
  if (missing.length > 0) {
    throw new Failure('fatal', `${paths.staticPods} has no static pod of ${missing.join(', ')}`, {
      fix: 'Put their manifests back, and start again.',
    });
  }
  await progress.wait('the kubelet to stop', () => stopUnit('kubelet.service', progress.signal));
  for (const { file, manifest } of placed) {
    await writeFileAtomic(join(moved, file), manifest, 0o600);
    await removeFile(join(paths.staticPods, file));
  }
  for (const names of STOP_ORDER) {
    await stopContainers(paths, { names, graceSeconds: GRACE_SECONDS }, progress);
  }
}

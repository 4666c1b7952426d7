import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { components } from '../../lib/render/kubernetes/static-pod.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { podsIn } from './control-plane-pods.ts';
import { removeStaticPods } from './static-pods.ts';

/** Each after what depends on it. */
const STOP_ORDER = [
  ['kube-controller-manager', 'kube-scheduler'],
  ['kube-apiserver'],
  ['etcd'],
] as const;

/**
 * Stops every client of etcd, then etcd: copies the manifests to the folder `moved`, removes them and
 * waits until no container of them is running. The containers of workloads go on.
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
  for (const { file, manifest } of placed) {
    await writeFileAtomic(join(moved, file), manifest, 0o600);
  }
  const pods = await podsIn(moved);
  for (const group of STOP_ORDER) {
    const members = pods
      .filter(({ component }) => group.some((name) => name === component))
      .map(({ component, file }) => ({ file, container: component }));
    await removeStaticPods(paths, members, progress);
  }
}

import { join } from 'node:path';
import { Failure } from '../../../../lib/errors/failure.ts';
import { writeFileAtomic } from '../../../../lib/host/files.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import type { Progress } from '../../../../lib/steps/progress.ts';
import { done } from '../../../../lib/steps/step.ts';
import type { StepBody } from '../../../../lib/steps/within.ts';
import { podsIn } from '../../../steps/control-plane-pods.ts';
import { areStopped, removeStaticPods } from '../../../steps/static-pods.ts';
import type { RestoreContext } from './context.ts';
import { movedManifests } from './places.ts';

/** Each after what depends on it. */
const STOP_ORDER = [
  ['kube-controller-manager', 'kube-scheduler'],
  ['kube-apiserver'],
  ['etcd'],
] as const;

/** Stops every client of etcd, then etcd. The containers of workloads go on. */
export const stop: StepBody<RestoreContext> = {
  name: 'stop',
  leaves: 'no running control plane; its manifests beside the state of this agent',
  neededUntil: 'start',
  input: ({ request }) => request,
  async holds({ paths }, { signal }) {
    const placed = await podsIn(paths.staticPods);
    return placed.length === 0 && (await areStopped(paths, components, signal));
  },
  async run(context, progress) {
    await stopControlPlane(context, progress);
    return done();
  },
};

/**
 * Moves the manifests aside and waits until no container of them is running.
 *
 * @throws Failure (fatal) if one is missing; nothing was changed.
 */
export async function stopControlPlane(
  context: Pick<RestoreContext, 'paths'>,
  progress: Progress,
): Promise<void> {
  const { paths } = context;
  const moved = movedManifests(context);
  const placed = await podsIn(paths.staticPods);
  const known = [...placed, ...(await podsIn(moved))];
  const missing = components.filter((name) => !known.some(({ component }) => component === name));
  if (missing.length > 0) {
    throw new Failure('fatal', `${paths.staticPods} has no static pod of ${missing.join(', ')}`, {
      fix: 'Put their manifests back, and restore the backup again.',
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

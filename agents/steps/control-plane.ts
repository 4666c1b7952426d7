import { sha256 } from '../../lib/host/files.ts';
import { isApiReady, waitForApi } from '../../lib/kube/api-ready.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import type { Rendered } from '../../lib/render/renderer.ts';
import { loadRendered, staticPod } from '../../lib/render/store.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { placeStaticPod, waitUntilRunning } from './static-pods.ts';

/** Started after etcd, and stopped before the snapshot. */
export const CONTROL_PLANE = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;

export const controlPlanePods = (rendered: Rendered) =>
  CONTROL_PLANE.map((component) => staticPod(rendered, component));

/** Starts the API server, the controller-manager and the scheduler as static pods. */
export const controlPlane: StepBody<HostContext> = {
  name: 'control-plane',
  leaves: 'an API server that is ready, a controller-manager and a scheduler that run',
  retries: true,
  neededUntil: 'quiesce',
  async input({ paths }) {
    return controlPlanePods(await loadRendered(paths)).map(({ manifest }) => sha256(manifest));
  },
  async holds(context, { signal }) {
    return withBootstrapAdmin(context.cluster.controlPlane, context.paths, (client) =>
      isApiReady(client, signal),
    );
  },
  async run({ paths, cluster }, progress) {
    const pods = controlPlanePods(await loadRendered(paths));
    for (const pod of pods) await placeStaticPod(paths, pod);
    await withBootstrapAdmin(cluster.controlPlane, paths, (client) =>
      progress.wait('the API server to be ready', () =>
        waitForApi(client, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          report: (state) => progress.waitingFor(`the API server to be ready: ${state}`),
        }),
      ),
    );
    const names = pods.map((pod) => pod.container);
    await progress.wait('all of them to run', () => waitUntilRunning(paths, names, progress));
    return done();
  },
};

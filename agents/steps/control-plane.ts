import { sha256 } from '../../lib/host/files.ts';
import { isApiReady, waitForApi } from '../../lib/kube/api-ready.ts';
import type { Rendered } from '../../lib/render/renderer.ts';
import { loadRendered } from '../../lib/render/store.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { placeStaticPod, waitUntilRunning } from './static-pods.ts';

/** Everything except the database, in start order. */
const controlPlanePods = ({ staticPods }: Rendered) =>
  staticPods.filter(({ role }) => role !== 'database');

/** Starts the API server, the controller-manager and the scheduler as static pods. */
export const controlPlane: StepBody<HostContext> = {
  name: 'control-plane',
  leaves: 'an API server that is ready, a running controller-manager and scheduler',
  retries: true,
  async input({ paths }) {
    return controlPlanePods(await loadRendered(paths)).map(({ manifest }) => sha256(manifest));
  },
  async holds(context, progress) {
    return context.withAdministrator(progress, (client) => isApiReady(client, progress.signal));
  },
  async run(context, progress) {
    const { paths } = context;
    const pods = controlPlanePods(await loadRendered(paths));
    for (const pod of pods) await placeStaticPod(paths, pod);
    await context.withAdministrator(progress, (client) =>
      progress.wait('the API server to be ready', () =>
        waitForApi(client, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          report: (state) => progress.waitingFor(`the API server to be ready: ${state}`),
        }),
      ),
    );
    const names = pods.map((pod) => pod.container);
    await progress.wait('all of them to be running', () =>
      waitUntilRunning(paths, names, progress),
    );
    return done();
  },
};

import { isHeld } from '../../../lib/change/identity/held.ts';
import { isApiReady } from '../../../lib/clients/kube/api-ready.ts';
import { deleteLeases } from '../../../lib/clients/kube/leases.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { leases } from '../../../lib/render/kubernetes/leader-election.ts';
import { components } from '../../../lib/render/kubernetes/static-pod.ts';
import { awaitApi } from '../../steps/await-api.ts';
import { podsIn } from '../../steps/control-plane-pods.ts';
import { restartKubeletUnit } from '../../steps/kubelet.ts';
import { withPresentFiles } from '../../steps/read-once.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { placeStaticPod } from '../../steps/static-pods.ts';
import type { IdentityContext } from './context.ts';
import { heldManifests, release } from './hold.ts';

/** Starts the controllers, and the kubelet with the API server. */
export const startRenamed: StepBody<IdentityContext> = {
  name: 'start',
  leaves: 'the whole control plane, and a kubelet that joins the API',
  touches: ['disk', 'api', 'systemd'],
  retries: true,
  neededUntil: 'conclude',
  input: ({ request }) => request.id,
  async holds(context, progress) {
    const placed = await podsIn(context.paths.staticPods);
    return (
      !(await isHeld(context.paths)) &&
      components.every((name) => placed.some(({ component }) => component === name)) &&
      (await context.withAdministrator(progress, (client) => isApiReady(client, progress.signal)))
    );
  },
  async run(context, progress) {
    const { paths } = context;
    const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
    // The Leases of leaders under the old name, which are gone: their successors would wait for a minute.
    await context.withAdministrator(progress, (client) => deleteLeases(client, leases, limits));
    const placed = await podsIn(paths.staticPods);
    const isPlaced = (name: string) => placed.some(({ component }) => component === name);
    for (const pod of await podsIn(heldManifests(paths))) {
      if (isPlaced(pod.component)) continue;
      await placeStaticPod(paths, { ...pod, manifest: await withPresentFiles(paths, pod) });
    }
    await release(paths, progress.signal);
    await restartKubeletUnit(progress.signal);
    await awaitApi(context, progress);
    return done();
  },
};

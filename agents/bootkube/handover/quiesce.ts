import { deleteLeases } from '../../../lib/clients/kube/leases.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { withBootstrapAdmin } from '../../../lib/render/access.ts';
import type { PodRole } from '../../../lib/render/renderer.ts';
import { loadRendered, podOfRole } from '../../../lib/render/store.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { areStopped, isPlaced, removeStaticPods } from '../../steps/static-pods.ts';

/** They stop later, and none writes to etcd by itself. */
const OUTLASTS: readonly PodRole[] = ['database', 'ignition-server'];

/**
 * Stops everything that writes to etcd, in an order that leaves no trace of the live stage:
 * first the leaders, then their Leases (so that nothing waits for them to expire after the
 * reboot), then the API server.
 */
export const quiesce: StepBody<HostContext> = {
  name: 'quiesce',
  leaves: 'no running scheduler, controller-manager or API server, and none of their Leases',
  touches: ['disk', 'etcd', 'runtime'],
  retries: true,
  neededUntil: 'snapshot',
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    const { staticPods } = await loadRendered(paths);
    const pods = staticPods.filter(({ role }) => !OUTLASTS.includes(role));
    const placed = await Promise.all(pods.map((pod) => isPlaced(paths, pod)));
    return (
      !placed.includes(true) &&
      (await areStopped(
        paths,
        pods.map((pod) => pod.container),
        signal,
      ))
    );
  },
  async run({ paths, cluster }, progress) {
    const rendered = await loadRendered(paths);
    const leaders = rendered.staticPods.filter(
      ({ role }) => role === 'leader' || role === 'bootstrap',
    );
    const apiServer = podOfRole(rendered, 'api-server');
    await removeStaticPods(paths, leaders, progress);
    // It is missing only if an earlier attempt stopped it, after deleting the Leases.
    if (await isPlaced(paths, apiServer)) {
      await withBootstrapAdmin(cluster.controlPlane, paths, (client) =>
        deleteLeases(client, rendered.leases, {
          signal: progress.signal,
          deadlineMs: REQUEST_DEADLINE_MS,
        }),
      );
    }
    await removeStaticPods(paths, [apiServer], progress);
    return done();
  },
};

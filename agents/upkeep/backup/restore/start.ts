import { isApiReady } from '../../../../lib/clients/kube/api-ready.ts';
import { deleteLeases } from '../../../../lib/clients/kube/leases.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { unitProperties } from '../../../../lib/host/systemd.ts';
import { leases } from '../../../../lib/render/kubernetes/leader-election.ts';
import { awaitApi } from '../../../steps/await-api.ts';
import { podsIn } from '../../../steps/control-plane-pods.ts';
import { restartKubeletUnit } from '../../../steps/kubelet.ts';
import { withPresentFiles } from '../../../steps/read-once.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';
import { movedManifests } from '../../../steps/restore/places.ts';
import { placeStaticPod } from '../../../steps/static-pods.ts';

/** Starts the control plane and the kubelet anew: nothing keeps what it read from the old database. */
export const startRestored: StepBody<RestoreContext> = {
  name: 'start',
  leaves: 'an API server that is ready with the restored database',
  touches: ['disk', 'api', 'systemd'],
  input: ({ request }) => request,
  holds: async (context, progress) =>
    (await arePlaced(context, progress)) &&
    (await context.withAdministrator(progress, (client) => isApiReady(client, progress.signal))),
  async run(context, progress) {
    await placeControlPlane(context, progress);
    await awaitApi(context, progress);
    await forgetLeaders(context, progress);
    return done();
  },
};

/** Whether every static pod that was moved aside is in its folder again, and a kubelet runs it. */
export async function arePlaced(
  context: Pick<RestoreContext, 'paths'>,
  { signal }: Progress,
): Promise<boolean> {
  const { ActiveState } = await unitProperties('kubelet.service', ['ActiveState'], signal);
  if (ActiveState !== 'active') return false;
  const placed = await podsIn(context.paths.staticPods);
  const moved = await podsIn(movedManifests(context));
  return moved.every(({ component }) => placed.some((pod) => pod.component === component));
}

/** Puts the manifests back and restarts the kubelet; the containers of workloads keep running. */
export async function placeControlPlane(
  context: RestoreContext,
  progress: Progress,
): Promise<void> {
  for (const pod of await podsIn(movedManifests(context))) {
    // The restored key of the encryption, so that a later rotation restarts no pod for it.
    const manifest = await withPresentFiles(context.paths, pod);
    await placeStaticPod(context.paths, { ...pod, manifest });
  }
  await restartKubeletUnit(progress.signal);
}

/** The Leases in the backup are of leaders that are gone; their successors would wait for a minute. */
async function forgetLeaders({ withAdministrator }: RestoreContext, progress: Progress) {
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  await withAdministrator(progress, (client) => deleteLeases(client, leases, limits));
}

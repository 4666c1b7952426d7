import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { components } from '../../../../lib/render/kubernetes/static-pod.ts';
import { podsIn } from '../../../steps/control-plane-pods.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';
import { movedManifests } from '../../../steps/restore/places.ts';
import { areStopped } from '../../../steps/static-pods.ts';
import { stopControlPlane } from '../../../steps/stop-control-plane.ts';

/** Stops every client of etcd, then etcd. The containers of workloads keep running. */
export const stopForRestore: StepBody<RestoreContext> = {
  name: 'stop',
  leaves: 'no running control plane; its manifests beside the state of this agent',
  touches: ['disk', 'runtime'],
  neededUntil: 'start',
  input: ({ request }) => request,
  async holds({ paths }, { signal }) {
    const placed = await podsIn(paths.staticPods);
    return placed.length === 0 && (await areStopped(paths, components, signal));
  },
  async run(context, progress) {
    await stopControlPlane(context.paths, movedManifests(context), progress);
    return done();
  },
};

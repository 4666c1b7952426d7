import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { loadRendered, podOfRole } from '../../../lib/render/store.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { areStopped, isPlaced, removeStaticPods } from '../../steps/static-pods.ts';

/** Stops etcd: from now on the data in the snapshot cannot change. */
export const stopEtcd: StepBody<HostContext> = {
  name: 'stop-etcd',
  leaves: 'no running etcd',
  touches: ['disk', 'etcd', 'runtime'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    const pod = podOfRole(await loadRendered(paths), 'database');
    return !(await isPlaced(paths, pod)) && (await areStopped(paths, [pod.container], signal));
  },
  async run({ paths }, progress) {
    await removeStaticPods(paths, [podOfRole(await loadRendered(paths), 'database')], progress);
    return done();
  },
};

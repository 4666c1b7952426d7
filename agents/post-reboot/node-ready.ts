import { nodeReady as waitForNode } from '../../lib/kube/node-ready.ts';
import { withBootstrapAdmin } from '../../lib/render/access.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { InstalledContext } from './context.ts';

/** Waits until the kubelet of this boot calls the node Ready. */
export const nodeReady: StepBody<InstalledContext> = {
  name: 'node-ready',
  leaves: 'a node that is Ready, by word of this boot',
  retries: true,
  neededUntil: 'clean',
  input: ({ nodeName }) => nodeName,
  // A node that fell back is noticed by the steady state, which waits for it with its own deadline.
  holds: async () => true,
  async run({ cluster, paths, nodeName, bootTime }, progress) {
    await withBootstrapAdmin(cluster.controlPlane, paths, (client) =>
      progress.wait(`node ${nodeName} to be Ready`, () =>
        waitForNode(client, nodeName, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          bootTime,
          report: (observed) => progress.waitingFor(`node ${nodeName} to be Ready: ${observed}`),
        }),
      ),
    );
    return done();
  },
};

import { nodeReady as waitForNode } from '../../lib/kube/node-ready.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

/** Waits until the node has been reported Ready by the kubelet since this boot. */
export const nodeReady: StepBody<HostContext> = {
  name: 'node-ready',
  leaves: 'a node that is Ready, reported in this boot',
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  // If the node becomes NotReady again, the steady state detects it and waits with its own deadline.
  holds: async () => true,
  async run(context, progress) {
    const nodeName = context.hostname();
    const started = await context.bootTime(progress.signal);
    await context.withAdministrator(progress, (client) =>
      progress.wait(`node ${nodeName} to be Ready`, () =>
        waitForNode(client, nodeName, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          bootTime: started,
          report: (observed) => progress.waitingFor(`node ${nodeName} to be Ready: ${observed}`),
        }),
      ),
    );
    return done();
  },
};

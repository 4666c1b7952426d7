import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { nodeReady as waitForNode } from '../../lib/clients/kube/node-ready.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostContext, PlainHost } from './host-context.ts';

/** Runs `use` with a client that may read this host's Node. */
type WithClient<Context> = (
  context: Context,
  progress: Progress,
  use: (client: KubeClient) => Promise<unknown>,
) => Promise<unknown>;

/** Waits until the kubelet has reported the node Ready since this boot. */
export const nodeReadyBy = <Context extends PlainHost>(
  withClient: WithClient<Context>,
): StepBody<Context> => ({
  name: 'node-ready',
  leaves: 'a node that is Ready, reported in this boot',
  touches: ['api', 'clock'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  // If the node becomes NotReady again, the steady state detects it and waits with its own deadline;
  // on a worker, that is not the installation's to wait for.
  holds: async () => true,
  async run(context, progress) {
    const name = context.hostname();
    const what = `node ${name} to be Ready`;
    const bootTime = await context.bootTime(progress.signal);
    await withClient(context, progress, (client) =>
      progress.wait(what, (wait) =>
        waitForNode(client, name, {
          ...wait,
          bootTime,
        }),
      ),
    );
    return done();
  },
});

/** By the rights with which the agents administer the control plane. */
export const awaitNodeReady: StepBody<HostContext> = nodeReadyBy((context, progress, use) =>
  context.withAdministrator(progress, use),
);

import { nodeReady as waitForNode } from '../../lib/kube/node-ready.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { asNode } from './own-node.ts';

/** Waits until the kubelet has reported its Node Ready since this boot. */
export const nodeReady: StepBody<PlainHost> = {
  name: 'node-ready',
  leaves: 'a node that is Ready, reported in this boot',
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  // Whatever makes it NotReady later is not the installation's to wait for.
  holds: async () => true,
  async run(context, progress) {
    const name = context.hostname();
    const what = `node ${name} to be Ready`;
    const bootTime = await context.bootTime(progress.signal);
    using client = await asNode(context);
    await progress.wait(what, () =>
      waitForNode(client, name, {
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
        bootTime,
        report: (observed) => progress.waitingFor(`${what}: ${observed}`),
      }),
    );
    return done();
  },
};

import { resourcePath, resources } from '../../lib/kube/resources.ts';
import { watchUntil } from '../../lib/kube/watch-objects.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import { controlPlaneNode } from '../../lib/topology/kubernetes.ts';
import { rowFor } from '../../lib/topology/row-for.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/** `sno create` refuses installations with workers and other platforms. */
const { labels: LABELS } = controlPlaneNode(
  rowFor({ platform: 'none', compute: 0, laterWorkers: 0 }),
);

/**
 * Labels the Node, as soon as the kubelet has registered it: NodeRestriction forbids a kubelet the
 * labels of roles. The Node gets no taint, so that it runs all pods.
 */
export const nodeRole: StepBody<HostContext> = {
  name: 'node-role',
  leaves: 'a registered Node with the role control-plane',
  retries: true,
  input: ({ hostname }) => [hostname(), LABELS],
  // Nobody removes the label by itself, and whoever does it later may want to.
  holds: async () => true,
  async run(context, progress) {
    const name = context.hostname();
    const what = `node ${name} to be registered`;
    await context.withAdministrator(progress, async (client) => {
      await progress.wait(what, () =>
        watchUntil(
          client,
          resources.nodes,
          { fieldSelector: `metadata.name=${name}` },
          (nodes) => nodes.get(name),
          {
            signal: progress.signal,
            deadlineMs: progress.remainingMs(),
            what,
            describe: () => 'the node is not registered',
            report: (observed) => progress.waitingFor(`${what}: ${observed}`),
          },
        ),
      );
      await client.json(
        {
          method: 'PATCH',
          path: resourcePath(resources.nodes, { name }),
          contentType: 'application/merge-patch+json',
          body: { metadata: { labels: LABELS } },
        },
        { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS },
      );
    });
    return done();
  },
};

import { resourcePath, resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { controlPlaneNode } from '../../lib/config/topology/kubernetes.ts';
import { ROUTED_LABEL } from '../../lib/config/topology/routed.ts';
import { rowFor } from '../../lib/config/topology/row-for.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { HostContext } from './host-context.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/**
 * `sno create` refuses other platforms. With workers of the installation, the node has a taint, and its
 * pods are routed.
 */
function roleOf({ dayOneWorkers = 0 }: HostContext['cluster']) {
  const row = rowFor({ platform: 'none', compute: dayOneWorkers, laterWorkers: 0 });
  const { labels, taints } = controlPlaneNode(row);
  return { labels: dayOneWorkers === 0 ? labels : { ...labels, [ROUTED_LABEL]: '' }, taints };
}

/**
 * Gives the Node the labels of its role, and the taint if the topology has one, as soon as the kubelet
 * has registered it: NodeRestriction forbids a kubelet the labels of roles.
 */
export const nodeRole: StepBody<HostContext> = {
  name: 'node-role',
  leaves: 'a registered Node with the role control-plane',
  touches: ['api'],
  retries: true,
  input: ({ hostname, cluster }) => [hostname(), roleOf(cluster)],
  // Nobody removes the label by itself, and whoever does it later may want to.
  holds: async () => true,
  async run(context, progress) {
    const name = context.hostname();
    const { labels, taints } = roleOf(context.cluster);
    const what = `node ${name} to be registered`;
    await context.withAdministrator(progress, async (client) => {
      await progress.wait(what, (wait) =>
        watchUntil(
          client,
          resources.nodes,
          { fieldSelector: `metadata.name=${name}` },
          (nodes) => nodes.get(name),
          {
            ...wait,
            what,
            describe: () => 'the node is not registered',
          },
        ),
      );
      await client.json(
        {
          method: 'PATCH',
          path: resourcePath(resources.nodes, { name }),
          // Merges taints by their keys: the node has others while it is not Ready.
          contentType: 'application/strategic-merge-patch+json',
          body: { metadata: { labels }, ...(taints.length === 0 ? {} : { spec: { taints } }) },
        },
        { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS },
      );
    });
    return done();
  },
};

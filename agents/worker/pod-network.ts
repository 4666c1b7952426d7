import { type Node, resources } from '../../lib/clients/kube/resources.ts';
import { watchUntil } from '../../lib/clients/kube/watch-objects.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists, writeFileAtomic } from '../../lib/host/files.ts';
import { cniFileFor, cniPath } from '../../lib/render/kubernetes/cni.ts';
import type { PlainHost } from '../steps/host-context.ts';
import { asNode } from '../steps/own-node.ts';

/**
 * Configures the bridge of this node's pods with the subnets that the controller-manager has allocated
 * to its Node. They never change.
 */
export const podNetwork: StepBody<PlainHost> = {
  name: 'pod-network',
  leaves: `${cniPath}, with the subnets of this node`,
  touches: ['disk', 'api'],
  retries: true,
  input: ({ hostname }) => hostname(),
  holds: ({ paths }) => exists(paths.at(cniPath)),
  async run(context, progress) {
    const name = context.hostname();
    const what = `subnets for the pods of node ${name}`;
    using client = await asNode(context);
    const subnets = await progress.wait(what, (wait) =>
      watchUntil(
        client,
        resources.nodes,
        { fieldSelector: `metadata.name=${name}` },
        (nodes) => subnetsOf(nodes.get(name)),
        {
          ...wait,
          what,
          describe: (nodes) =>
            nodes.has(name) ? 'the node has no subnets' : 'the node is not registered',
        },
      ),
    );
    const { path, contents, mode } = cniFileFor(subnets);
    await writeFileAtomic(context.paths.at(path), contents, mode);
    return done(subnets.join(', '));
  },
};

function subnetsOf(node: Node | undefined): readonly string[] | undefined {
  const subnets = node?.spec?.podCIDRs ?? [];
  return subnets.length === 0 ? undefined : subnets;
}

import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { resourcePath, resources } from '../../clients/kube/resources.ts';
import { ROLES } from '../../config/topology/roles.ts';
import { ROUTED_LABEL } from '../../config/topology/routed.ts';

/**
 * Labels the control-plane node of a running cluster, so that flannel runs there too. Workers need no
 * label.
 * @returns whether the cluster has flannel
 */
export async function routePods(client: KubeClient, limits: Limits): Promise<boolean> {
  const labelSelector = ROLES.controlPlane;
  const { items } = await client.list(resources.nodes, { labelSelector }, limits);
  for (const { metadata } of items) {
    await client.json(
      {
        method: 'PATCH',
        path: resourcePath(resources.nodes, { name: metadata.name }),
        contentType: 'application/merge-patch+json',
        body: { metadata: { labels: { [ROUTED_LABEL]: '' } } },
      },
      limits,
    );
  }
  const place = { namespace: 'kube-system', name: 'flannel' };
  return (await client.find(resources.daemonSets, place, limits)) !== undefined;
}

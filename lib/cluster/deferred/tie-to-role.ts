import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { resourcePath } from '../../clients/kube/resources.ts';
import { deferredRole, roleDependents } from '../../clients/rights/deferred.ts';

/**
 * Makes the ClusterRole the owner of everything that is useless without it, so that
 * the agent gives up its rights with one deletion: if it deleted role and binding
 * separately, deleting the first would take away the right to delete the second.
 */
export async function tieToRole(client: KubeClient, limits: Limits): Promise<void> {
  const { resource, kind, name } = deferredRole;
  const role = await client.get(resource, { name }, limits);
  const owner = { apiVersion: resource.apiVersion, kind, name, uid: role.metadata.uid };
  const body = { metadata: { ownerReferences: [owner] } };
  for (const { place, ...dependent } of roleDependents) {
    const path = resourcePath(dependent, place);
    const contentType = 'application/merge-patch+json';
    await client.json({ method: 'PATCH', path, body, contentType }, limits);
  }
}

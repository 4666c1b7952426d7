import type { KubeClient } from '../kube/client.ts';
import { objectSchema, resourcePath } from '../kube/resources.ts';
import type { Limits } from '../wait/limits.ts';
import { deferredRole, roleDependents } from './access.ts';

/**
 * Makes the ClusterRole the owner of everything that has no use without it, so that
 * the agent ends its own rights with one deletion: deleting the role before the
 * binding, or the other way round, loses the right to delete the second.
 */
export async function tieToRole(client: KubeClient, limits: Limits): Promise<void> {
  const { resource, kind, name } = deferredRole;
  const role = await client.get({ ...resource, schema: objectSchema }, { name }, limits);
  const owner = { apiVersion: resource.apiVersion, kind, name, uid: role.metadata.uid };
  const body = { metadata: { ownerReferences: [owner] } };
  for (const { place, ...dependent } of roleDependents) {
    const path = resourcePath(dependent, place);
    const contentType = 'application/merge-patch+json';
    await client.json({ method: 'PATCH', path, body, contentType }, limits);
  }
}

import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { objectSchema } from '../kube/resources.ts';
import type { Limits } from '../wait/limits.ts';
import { apiTrustAccess } from './access.ts';

const PLURALS = { Role: 'roles', RoleBinding: 'rolebindings' } as const;

/**
 * Lets workers read the CAs of the API server in a cluster that an earlier release installed. What exists stays.
 *
 * @throws KubeError
 */
export async function grantApiTrust(client: KubeClient, limits: Limits): Promise<void> {
  for (const body of apiTrustAccess()) {
    const { apiVersion, kind, metadata } = body;
    const resource = { apiVersion, plural: PLURALS[kind], schema: objectSchema };
    try {
      await client.create(resource, { namespace: metadata.namespace }, body, limits);
    } catch (error) {
      if (!isKubeError(error, 'conflict')) throw error;
    }
  }
}

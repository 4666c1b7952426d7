import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { isKubeError } from '../../clients/kube/kube-error.ts';
import { objectSchema } from '../../clients/kube/resources.ts';
import { apiTrustAccess } from '../../clients/rights/workers.ts';

/**
 * Lets workers read the CAs of the API server in a cluster that an earlier release installed. What exists stays.
 *
 * @throws KubeError
 */
export async function grantApiTrust(client: KubeClient, limits: Limits): Promise<void> {
  for (const body of apiTrustAccess()) {
    const { apiVersion, kind, metadata } = body;
    const resource = { apiVersion, plural: `${kind.toLowerCase()}s`, schema: objectSchema };
    try {
      await client.create(resource, { namespace: metadata.namespace }, body, limits);
    } catch (error) {
      if (!isKubeError(error, 'conflict')) throw error;
    }
  }
}

import type { Limits } from '../wait/limits.ts';
import type { KubeClient } from './client.ts';
import { resources } from './resources.ts';

const namespace = 'kube-system';

/**
 * Deletes the leader-election Leases of these names in kube-system, so that the
 * next holder does not wait for the last one's to expire. None there is fine.
 */
export async function deleteLeases(
  client: KubeClient,
  names: readonly string[],
  limits: Limits,
): Promise<void> {
  await Promise.all(
    names.map((name) => client.remove(resources.leases, { namespace, name }, limits)),
  );
}

import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { resources } from './resources.ts';

/**
 * Deletes these leader-election Leases, so that the next holder need not wait until they
 * expire. A Lease that does not exist is not an error.
 */
export async function deleteLeases(
  client: KubeClient,
  leases: readonly { readonly namespace: string; readonly name: string }[],
  limits: Limits,
): Promise<void> {
  await Promise.all(
    leases.map(({ namespace, name }) =>
      client.remove(resources.leases, { namespace, name }, limits),
    ),
  );
}

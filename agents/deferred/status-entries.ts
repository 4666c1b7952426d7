import type { Limits } from '../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { resources } from '../../lib/clients/kube/resources.ts';
import { deferredStatus } from '../../lib/clients/rights/deferred.ts';
import type { ObjectState } from './object-state.ts';

export type StatusEntries = Readonly<Record<string, ObjectState>>;

/** A conflict with another writer is retried. */
const TRIES = 3;

/** The entries of the status ConfigMap by the manifests' keys; none if it was deleted. */
export async function readStatusEntries(
  client: KubeClient,
  limits: Limits,
): Promise<StatusEntries> {
  const found = await client.find(resources.configMaps, deferredStatus, limits);
  return found?.data ?? {};
}

/**
 * Sets entries and keeps the others. False if the ConfigMap was deleted: it is
 * not created again.
 */
export async function writeStatusEntries(
  client: KubeClient,
  entries: StatusEntries,
  limits: Limits,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      const { data, ...configMap } = await client.get(resources.configMaps, deferredStatus, limits);
      const body = { ...configMap, data: { ...data, ...entries } };
      await client.replace(resources.configMaps, deferredStatus, body, limits);
      return true;
    } catch (error) {
      if (isKubeError(error, 'not-found')) return false;
      if (!isKubeError(error, 'conflict') || tries === TRIES) throw error;
    }
  }
}

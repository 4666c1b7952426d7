import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { Discovery } from './discovery.ts';
import type { Manifest } from './manifest-decoding.ts';
import { resourcePath } from './resources.ts';

/** Who owns the fields that the agents change, in `metadata.managedFields`. */
const FIELD_MANAGER = 'sno-agents';
const APPLY = 'application/apply-patch+yaml';

/**
 * Gives objects the fields of their manifests, by server-side apply; what others have added stays. Objects
 * that do not exist are created.
 *
 * @throws KubeError, or Failure (retry) if the API does not serve a kind
 */
export async function applyChanged(
  client: KubeClient,
  manifests: readonly Manifest[],
  limits: Limits,
): Promise<void> {
  const discovery = new Discovery(client);
  for (const manifest of manifests) {
    const { apiVersion, kind } = manifest;
    const served = await placeOf(discovery, manifest, limits);
    if (served === undefined) {
      throw new Failure('retry', `the API serves no ${kind} in ${apiVersion}`);
    }
    const query = `fieldManager=${FIELD_MANAGER}&force=true`;
    const path = `${resourcePath(served.resource, served.place)}?${query}`;
    const call = { method: 'PATCH', path, body: manifest.object, contentType: APPLY } as const;
    await client.json(call, limits);
  }
}

/** Deletes objects, in this order. What does not exist, or is of a kind that is not served, is gone already. */
export async function removeObjects(
  client: KubeClient,
  manifests: readonly Manifest[],
  limits: Limits,
): Promise<void> {
  const discovery = new Discovery(client);
  for (const manifest of manifests) {
    const served = await placeOf(discovery, manifest, limits);
    if (served !== undefined) await client.remove(served.resource, served.place, limits);
  }
}

/** Where the API has the object of a manifest; undefined if it does not serve the kind. */
async function placeOf(discovery: Discovery, manifest: Manifest, limits: Limits) {
  const served = await discovery.find(manifest, limits);
  if (served === undefined) return undefined;
  const { namespace = 'default', name } = manifest;
  return { resource: served.resource, place: served.namespaced ? { namespace, name } : { name } };
}

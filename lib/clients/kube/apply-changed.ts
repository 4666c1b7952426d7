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
    const { apiVersion, kind, namespace = 'default', name } = manifest;
    const served = await discovery.find(manifest, limits);
    if (served === undefined) {
      throw new Failure('retry', `the API serves no ${kind} in ${apiVersion}`);
    }
    const place = served.namespaced ? { namespace, name } : { name };
    const query = `fieldManager=${FIELD_MANAGER}&force=true`;
    const path = `${resourcePath(served.resource, place)}?${query}`;
    const call = { method: 'PATCH', path, body: manifest.object, contentType: APPLY } as const;
    await client.json(call, limits);
  }
}

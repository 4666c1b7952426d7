import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { resources } from './resources.ts';

/** Creates a ConfigMap, or replaces the one of this name unless `keeps` wants its data to stay. */
export async function putConfigMap(
  client: KubeClient,
  place: { readonly namespace: string; readonly name: string },
  data: Readonly<Record<string, string | undefined>>,
  limits: Limits,
  keeps: (data: unknown) => boolean = () => false,
): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data };
  const known = await client.find(resources.configMaps, place, limits);
  if (known === undefined) {
    const { namespace } = place;
    try {
      await client.create(resources.configMaps, { namespace }, body, limits);
      return;
    } catch (error) {
      if (!isKubeError(error, 'conflict')) throw error;
    }
  } else if (keeps(known.data)) return;
  await client.replace(resources.configMaps, place, body, limits);
}

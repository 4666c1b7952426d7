import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { resources } from '../kube/resources.ts';
import type { Limits } from '../wait/limits.ts';
import { type Verdict, verdictText } from './verdict.ts';

const place = { namespace: 'kube-system', name: 'sno-steady' } as const;

/** Creates or replaces ConfigMap kube-system/sno-steady, with the verdict as text and as JSON. */
export async function publishVerdict(
  client: KubeClient,
  verdict: Verdict,
  limits: Limits,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: place,
    data: {
      state: verdict.state,
      time: verdict.time,
      summary: verdictText(verdict),
      verdict: JSON.stringify(verdict),
    },
  };
  const { namespace } = place;
  try {
    await client.create(resources.configMaps, { namespace }, body, limits);
  } catch (error) {
    if (!isKubeError(error, 'conflict')) throw error;
    await client.replace(resources.configMaps, place, body, limits);
  }
}

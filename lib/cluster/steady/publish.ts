import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { putConfigMap } from '../../clients/kube/config-map.ts';
import { type SteadyVerdict, verdictText } from './verdict.ts';

const place = { namespace: 'kube-system', name: 'sno-steady' } as const;

/** Creates or replaces ConfigMap kube-system/sno-steady, with the verdict as text and as JSON. */
export async function publishVerdict(
  client: KubeClient,
  verdict: SteadyVerdict,
  limits: Limits,
): Promise<void> {
  const data = {
    state: verdict.state,
    time: verdict.time,
    summary: verdictText(verdict),
    verdict: JSON.stringify(verdict),
  };
  await putConfigMap(client, place, data, limits);
}

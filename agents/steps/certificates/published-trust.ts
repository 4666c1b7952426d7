import { readFile } from 'node:fs/promises';
import { resources } from '../../../lib/clients/kube/resources.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { apiServerTrust } from '../../../lib/render/kubernetes/kube-apiserver.ts';
import { withSignedAdministrator } from '../../../lib/render/signed-access.ts';
import { REQUEST_DEADLINE_MS } from '../request-deadline.ts';
import type { RenewContext } from './context.ts';

const PLACE = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };

/**
 * Aggregated API servers read whom they trust from a ConfigMap. The API server only adds to it, until
 * a certificate expires (cluster_authentication_trust_controller.go), so the old one is removed here,
 * once the API server itself no longer trusts it.
 */
export async function publishTrust(
  { cluster, paths }: Pick<RenewContext, 'cluster' | 'paths'>,
  progress: Progress,
): Promise<void> {
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  await withSignedAdministrator(cluster.controlPlane, paths, progress, async (client) => {
    const published = await client.find(resources.configMaps, PLACE, limits);
    if (published === undefined) return;
    const data = {
      ...published.data,
      'client-ca-file': await readFile(paths.at(apiServerTrust.clients), 'utf8'),
      'requestheader-client-ca-file': await readFile(paths.at(apiServerTrust.frontProxy), 'utf8'),
    };
    await client.replace(resources.configMaps, PLACE, { ...published, data }, limits);
  });
}

import { certificatesIn } from '../pki/certificate.ts';
import type { Limits } from '../wait/limits.ts';
import { ROOT_CA } from '../workers/access.ts';
import type { KubeClient } from './client.ts';
import { resources } from './resources.ts';

/**
 * The authority that every pod verifies the API server with: after a rotation the present one, during it
 * both. Undefined if there is none. @throws KubeError
 */
export async function publishedRootCa(
  client: KubeClient,
  limits: Limits,
): Promise<string | undefined> {
  const place = { namespace: 'kube-system', name: ROOT_CA };
  const published = await client.find(resources.configMaps, place, limits);
  const certificates = certificatesIn(published?.data?.['ca.crt'] ?? '');
  return certificates.length === 0 ? undefined : certificates.join('');
}

import type { Limits } from '../../base/wait/limits.ts';
import { certificatesIn } from '../../pki/certificate.ts';
import { ROOT_CA } from '../rights/workers.ts';
import type { KubeClient } from './client.ts';
import { resources } from './resources.ts';
import { watchUntil } from './watch-objects.ts';

const PLACE = { namespace: 'kube-system', name: ROOT_CA };

/**
 * The authority that every pod verifies the API server with: after a rotation the present one, during it
 * both. Undefined if there is none. @throws KubeError
 */
export async function publishedRootCa(
  client: KubeClient,
  limits: Limits,
): Promise<string | undefined> {
  return authorityIn(await client.find(resources.configMaps, PLACE, limits));
}

/**
 * The same, once it is there: the controller manager publishes it a moment after it has started.
 *
 * @throws Failure `deadline`
 */
export async function publishedRootCaWithin(
  client: KubeClient,
  { signal, deadlineMs }: Limits,
  report: (state: string) => void,
): Promise<string> {
  const { namespace, name } = PLACE;
  return watchUntil(
    client,
    resources.configMaps,
    { namespace, fieldSelector: `metadata.name=${name}` },
    (objects) => authorityIn(objects.get(`${namespace}/${name}`)),
    {
      signal,
      deadlineMs,
      what: 'the authority of the API server',
      describe: () => `it is not in ConfigMap ${namespace}/${name}`,
      report,
    },
  );
}

function authorityIn(
  published: { readonly data?: Readonly<Record<string, string>> | undefined } | undefined,
): string | undefined {
  const certificates = certificatesIn(published?.data?.['ca.crt'] ?? '');
  return certificates.length === 0 ? undefined : certificates.join('');
}

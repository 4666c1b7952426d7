import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './kube-error.ts';
import { resources } from './resources.ts';

const namespace = 'kube-system';

/**
 * Creates ConfigMap `kube-system/bootstrap` with `status: complete`, which
 * `openshift-install wait-for bootstrap-complete` watches for, or verifies an existing one.
 * @throws Failure `fatal` if one with another status exists.
 */
export async function publishBootstrapComplete(client: KubeClient, limits: Limits): Promise<void> {
  const name = 'bootstrap';
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { status: 'complete' },
  };
  try {
    await client.create(resources.configMaps, { namespace }, body, limits);
  } catch (error) {
    if (!isKubeError(error, 'conflict')) throw error;
  }
  const { data } = await client.get(resources.configMaps, { namespace, name }, limits);
  if (data?.status === 'complete') return;
  throw new Failure('fatal', `ConfigMap ${namespace}/${name} already exists`, {
    expected: 'status complete',
    found: `status ${data?.status ?? 'missing'}`,
  });
}

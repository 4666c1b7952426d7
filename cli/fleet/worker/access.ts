import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Access } from '../../../lib/clients/kube/kubeconfig.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { Surroundings } from '../../surroundings.ts';
import { ACCOUNT, hubAccess } from '../hub-access.ts';

export interface HubOptions {
  readonly kubeconfig?: string;
  readonly namespace?: string;
}

/** How a hub is reached. */
export interface HubAccess {
  readonly access: Access;
  readonly namespace: string;
  /** The address of the API server is one of the hub's own network. */
  readonly isInPod: boolean;
}

/**
 * As the other commands reach it; the namespace is that of the pod if none is given.
 *
 * @param account the folder of the service account
 * @throws Failure (usage)
 */
export async function workersAccess(
  { kubeconfig, namespace: given }: HubOptions,
  surroundings: Pick<Surroundings, 'environment' | 'signal'>,
  account = ACCOUNT,
): Promise<HubAccess> {
  const access = await hubAccess(kubeconfig, surroundings, account);
  const { KUBERNETES_SERVICE_HOST: host } = surroundings.environment;
  const isInPod = access.server.hostname.replace(/^\[|\]$/g, '') === host;
  const own = isInPod ? await readTextIfPresent(join(account, 'namespace')) : undefined;
  const namespace = given ?? own?.trim();
  if (namespace) return { access, namespace, isInPod };
  throw new Failure('usage', 'the namespace of the Sites is not known', {
    fix: 'Set it with --namespace.',
  });
}

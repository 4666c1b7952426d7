import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Access } from '../../../lib/clients/kube/kubeconfig.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import { readPersonsKubeconfig } from '../../kubeconfig/read-kubeconfig.ts';
import type { Surroundings } from '../../surroundings.ts';

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

/** Where the kubelet puts the account of a pod. */
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * By `--kubeconfig`, or in a pod of the hub by its service account, whose token is read again for each request, since
 * the kubelet replaces it.
 *
 * @param account the folder of the service account
 * @throws Failure (usage)
 */
export async function hubAccess(
  { kubeconfig, namespace: given }: HubOptions,
  { environment, signal }: Pick<Surroundings, 'environment' | 'signal'>,
  account = ACCOUNT,
): Promise<HubAccess> {
  const isInPod = kubeconfig === undefined;
  const access = isInPod
    ? await accountAccess(environment, account)
    : await readPersonsKubeconfig(kubeconfig, { signal });
  const own = isInPod ? await readTextIfPresent(join(account, 'namespace')) : undefined;
  const namespace = given ?? own?.trim();
  if (namespace) return { access, namespace, isInPod };
  throw new Failure('usage', 'the namespace of the Sites is not known', {
    fix: 'Set it with --namespace.',
  });
}

async function accountAccess(
  environment: Surroundings['environment'],
  account: string,
): Promise<Access> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  const ca = await readTextIfPresent(join(account, 'ca.crt'));
  if (host === undefined || ca === undefined) {
    throw new Failure('usage', 'no hub is known: this is no pod with a service account', {
      fix: 'Name the kubeconfig of the hub with --kubeconfig.',
    });
  }
  const renewed = async () => ({
    token: (await readFile(join(account, 'token'), 'utf8')).trim(),
  });
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    ca,
    renewed,
  };
}

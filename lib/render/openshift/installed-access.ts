import { Failure } from '../../base/errors/failure.ts';
import { KubeClient } from '../../clients/kube/client.ts';
import { type Access, readKubeconfig } from '../../clients/kube/kubeconfig.ts';
import { exists } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { paths as openShift } from './paths.ts';

/** Written by the first revision of the API server's operator, and kept by it. */
const operators = '/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets';

/**
 * Kubeconfigs of administrators for this host's API server by way of localhost: the bootstrap's until
 * the clean-up deletes it, then the operator's.
 */
export const administratorKubeconfigs: readonly string[] = [
  `${openShift.secrets}/kubeconfig`,
  `${operators}/node-kubeconfigs/localhost.kubeconfig`,
];

/** All rights. @throws Failure (retry) if no such kubeconfig exists */
export async function administratorAccess(paths: HostPaths): Promise<Access> {
  for (const path of administratorKubeconfigs) {
    if (await exists(paths.at(path))) return readKubeconfig(paths.at(path));
  }
  throw new Failure('retry', 'there is no kubeconfig for the API server of this host', {
    expected: administratorKubeconfigs.join(' or '),
    fix: 'See "oc get pods -n openshift-kube-apiserver": the operator of the API server writes it.',
  });
}

/**
 * The rights of that user alone, and of the groups: the API server checks them with each request.
 * @throws Failure (retry) like administratorAccess
 */
export async function accessFor(
  paths: HostPaths,
  user: string,
  groups: readonly string[] = [],
): Promise<Access> {
  return { ...(await administratorAccess(paths)), actingFor: { user, groups } };
}

/** Runs `use` with a client of the API that has all rights, and closes it. @throws Failure (retry) like administratorAccess */
export async function withLocalAdministrator<T>(
  paths: HostPaths,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  using client = new KubeClient(await administratorAccess(paths));
  return await use(client);
}

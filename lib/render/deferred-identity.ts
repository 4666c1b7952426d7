import { type Access, readKubeconfig } from '../clients/kube/kubeconfig.ts';
import { deferredUser } from '../clients/rights/deferred.ts';
import type { Cluster } from '../config/cluster/cluster.ts';
import type { HostPaths } from '../host/paths.ts';
import { accessTo, type ControlPlaneAccess } from './access.ts';
import { accessFor } from './openshift/installed-access.ts';

type Kind = Cluster['controlPlane'];

/**
 * The files with which deferred manifests are applied, on the host. Undefined on OpenShift: an administrator acts for
 * their user there, so that the API server grants the rights of that user only, and no key is stored.
 */
export const deferredIdentityOf = (
  kind: Kind,
): ControlPlaneAccess['deferredIdentity'] | undefined =>
  kind === 'openshift' ? undefined : accessTo(kind).deferredIdentity;

/**
 * The rights to apply deferred manifests, and no others.
 * @throws Failure (usage) if their kubeconfig is damaged, (retry) while OpenShift's operator has written none
 */
export function deferredAccessOf(kind: Kind, paths: HostPaths): Promise<Access> {
  const own = deferredIdentityOf(kind);
  return own === undefined
    ? accessFor(paths, deferredUser)
    : readKubeconfig(paths.at(own.kubeconfig));
}

import type { Access } from '../clients/kube/kubeconfig.ts';
import type { Cluster } from '../config/cluster/cluster.ts';
import type { HostPaths } from '../host/paths.ts';
import { accessTo } from './access.ts';
import { csrApprover } from './openshift/agent-identities.ts';
import { accessFor } from './openshift/installed-access.ts';
import { signedAccess } from './signed-access.ts';

/**
 * The rights to approve requests of an installed host's kubelet, and no others. Nothing of them is stored: on
 * Kubernetes the host signs the identity in memory, on OpenShift an administrator acts for it.
 */
export function approverAccess(
  kind: Cluster['controlPlane'],
  paths: HostPaths,
  lifetimeMs: number,
): Promise<Access> {
  return kind === 'openshift'
    ? accessFor(paths, csrApprover)
    : signedAccess(kind, paths, accessTo(kind).csrApprover, lifetimeMs);
}

import type { KubernetesObject } from '@kubernetes/client-node';
import { clientSigner, servingSigner } from '../kube/signers.ts';
import { approverRole } from './approver-role.ts';
import { BOOTSTRAPPERS } from './bootstrappers.ts';
import { groupSubject, rbacBinding, rbacRole } from './rbac.ts';

const namespace = 'kube-system';
const API_TRUST = 'sno:worker-api-trust';
/** The ConfigMap of every namespace with the authority of the API server. */
export const ROOT_CA = 'kube-root-ca.crt';

/** Group, and user, whose right is to approve requests of workers; its certificates are short. */
export const WORKER_APPROVER = 'sno-agents:worker-approver';

/**
 * Whoever holds a bootstrap token for workers may request certificates, of any name: nothing
 * approves them but sno-approve, by the list of allowed workers. In particular, nothing lets the
 * controller-manager approve a first client certificate (`nodeclient`).
 */
export function workersAccess(): KubernetesObject[] {
  const bootstrappers = groupSubject(BOOTSTRAPPERS);
  return [
    approverRole(WORKER_APPROVER, [clientSigner, servingSigner]),
    rbacBinding({ name: WORKER_APPROVER }, groupSubject(WORKER_APPROVER)),
    // Kubernetes' own role: to create a request, and to see what became of it.
    rbacBinding({ name: 'sno:worker-requests' }, bootstrappers, 'system:node-bootstrapper'),
    // Kubernetes' own role: the certificates by which the kubelet knows its clients.
    rbacBinding(
      { name: 'sno:worker-trust', namespace },
      bootstrappers,
      'extension-apiserver-authentication-reader',
    ),
    ...apiTrustAccess(),
  ];
}

/**
 * The CAs by which a worker knows the API server may be read by it before it has joined, and as a node, to follow a rotation:
 * the node authorizer grants only ConfigMaps of its pods. Every pod has them.
 */
export function apiTrustAccess() {
  return [
    rbacRole({ name: API_TRUST, namespace }, [
      { apiGroups: [''], resources: ['configmaps'], resourceNames: [ROOT_CA], verbs: ['get'] },
    ]),
    apiTrustBinding(API_TRUST, BOOTSTRAPPERS),
    apiTrustBinding('sno:node-api-trust', 'system:nodes'),
  ];
}

const apiTrustBinding = (name: string, group: string) =>
  rbacBinding({ name, namespace }, groupSubject(group), API_TRUST);

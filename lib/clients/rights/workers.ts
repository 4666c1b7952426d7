import type { KubernetesObject, V1ClusterRoleBinding } from '@kubernetes/client-node';
import { clientSigner, servingSigner } from '../kube/signers.ts';
import { approverRole } from './approver-role.ts';
import { BOOTSTRAPPERS } from './bootstrappers.ts';

const rbac = 'rbac.authorization.k8s.io';
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
  return [
    approverRole(WORKER_APPROVER, [clientSigner, servingSigner]),
    binding(WORKER_APPROVER, WORKER_APPROVER, WORKER_APPROVER),
    // Kubernetes' own role: to create a request, and to see what became of it.
    binding('sno:worker-requests', 'system:node-bootstrapper', BOOTSTRAPPERS),
    // Kubernetes' own role: the certificates by which the kubelet knows its clients.
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'sno:worker-trust', namespace: 'kube-system' },
      roleRef: {
        apiGroup: rbac,
        kind: 'Role',
        name: 'extension-apiserver-authentication-reader',
      },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: BOOTSTRAPPERS }],
    },
    ...apiTrustAccess(),
  ];
}

/**
 * The CAs by which a worker knows the API server may be read by it before it has joined, and as a node, to follow a rotation:
 * the node authorizer grants only ConfigMaps of its pods. Every pod has them.
 */
export function apiTrustAccess() {
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role' as const,
      metadata: { name: API_TRUST, namespace: 'kube-system' },
      rules: [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: [ROOT_CA], verbs: ['get'] },
      ],
    },
    apiTrustBinding(API_TRUST, BOOTSTRAPPERS),
    apiTrustBinding('sno:node-api-trust', 'system:nodes'),
  ];
}

const apiTrustBinding = (name: string, group: string) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding' as const,
  metadata: { name, namespace: 'kube-system' },
  roleRef: { apiGroup: rbac, kind: 'Role', name: API_TRUST },
  subjects: [{ apiGroup: rbac, kind: 'Group', name: group }],
});

function binding(name: string, role: string, group: string): V1ClusterRoleBinding {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: rbac, kind: 'Group', name: group }],
  };
}

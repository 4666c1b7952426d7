import type { V1ClusterRole } from '@kubernetes/client-node';
/**
 * The ClusterRole of whoever approves certificate signing requests for these signers, and for that looks at
 * Nodes: whether a name is taken, and the addresses that a serving certificate may name.
 *
 * @param nodes names of these Nodes; all if undefined.
 */
export function approverRole(name: string, signers: string[], nodes?: string[]): V1ClusterRole {
  const read = ['list', 'watch'];
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: read,
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/approval'],
        verbs: ['update'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: signers,
        verbs: ['approve'],
      },
      {
        apiGroups: [''],
        resources: ['nodes'],
        ...(nodes === undefined ? {} : { resourceNames: nodes }),
        verbs: read,
      },
    ],
  };
}

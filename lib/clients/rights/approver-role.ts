import { rbacRole } from './rbac.ts';

/**
 * The ClusterRole of whoever approves certificate signing requests for these signers, and for that looks at
 * Nodes: whether a name is taken, and the addresses that a serving certificate may name.
 *
 * @param nodes names of these Nodes; all if undefined.
 */
export function approverRole(name: string, signers: string[], nodes?: string[]) {
  const read = ['list', 'watch'];
  return rbacRole({ name }, [
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
  ]);
}

import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Role,
  V1RoleBinding,
} from '@kubernetes/client-node';

const rbac = 'rbac.authorization.k8s.io';

/** User, group, roles and bindings of `wait-steady`; its certificates are signed in memory. */
export const STEADY = 'sno-agents:steady';

const READS: Readonly<Record<string, string[]>> = {
  '': ['nodes', 'pods'],
  apps: ['deployments', 'daemonsets', 'statefulsets'],
  'apiregistration.k8s.io': ['apiservices'],
  'certificates.k8s.io': ['certificatesigningrequests'],
  'config.openshift.io': ['clusterversions', 'clusteroperators'],
  'machineconfiguration.openshift.io': ['machineconfigpools'],
  'operator.openshift.io': [
    ...['etcds', 'kubeapiservers', 'kubecontrollermanagers', 'kubeschedulers'],
  ],
  'tuned.openshift.io': ['profiles'],
};

/** May read what the verdict depends on, and write ConfigMap kube-system/sno-steady. */
export function steadyAccess(): (V1ClusterRole | V1ClusterRoleBinding | V1Role | V1RoleBinding)[] {
  const metadata = { name: STEADY };
  const own = { name: STEADY, namespace: 'kube-system' };
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  const subjects = [{ apiGroup: rbac, kind: 'Group', name: STEADY }];
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata,
      rules: Object.entries(READS).map(([group, plurals]) => ({
        apiGroups: [group],
        resources: plurals,
        verbs: ['get', 'list', 'watch'],
      })),
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: STEADY },
      subjects,
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: own,
      rules: [
        // RBAC cannot limit the creation by name.
        { ...configMaps, verbs: ['create'] },
        { ...configMaps, resourceNames: ['sno-steady'], verbs: ['get', 'update'] },
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'list', 'watch'],
        },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: own,
      roleRef: { apiGroup: rbac, kind: 'Role', name: STEADY },
      subjects,
    },
  ];
}

import type { KubernetesObject } from '@kubernetes/client-node';
import { groupSubject, rbacBinding, rbacRole } from './rbac.ts';

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
export function steadyAccess(): KubernetesObject[] {
  const own = { name: STEADY, namespace: 'kube-system' };
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  const watched = ['get', 'list', 'watch'];
  return [
    rbacRole(
      { name: STEADY },
      Object.entries(READS).map(([group, plurals]) => ({
        apiGroups: [group],
        resources: plurals,
        verbs: watched,
      })),
    ),
    rbacBinding({ name: STEADY }, groupSubject(STEADY)),
    rbacRole(own, [
      // RBAC cannot limit the creation by name.
      { ...configMaps, verbs: ['create'] },
      { ...configMaps, resourceNames: ['sno-steady'], verbs: ['get', 'update'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: watched },
    ]),
    rbacBinding(own, groupSubject(STEADY)),
  ];
}

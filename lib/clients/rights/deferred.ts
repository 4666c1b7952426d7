import type { KubernetesObject, V1ConfigMap } from '@kubernetes/client-node';
/**
 * The API objects of the agent that applies deferred manifests: its rights, and the
 * ConfigMap with the state of each manifest.
 */
import { objectSchema } from '../kube/resources.ts';
import { RBAC_GROUP, RBAC_VERSION, rbacBinding, rbacRole, userSubject } from './rbac.ts';

const namespace = 'kube-system';

/** The agent's user; also the name of its roles and their bindings. */
export const deferredUser = 'sno-agents:deferred';

/** The ConfigMap with one entry for each deferred manifest; it stays as the record. */
export const deferredStatus = { namespace, name: 'sno-deferred' } as const;

/** The ClusterRole; Kubernetes' garbage collection deletes what it owns with it. */
export const deferredRole = {
  resource: { apiVersion: RBAC_VERSION, plural: 'clusterroles', schema: objectSchema },
  kind: 'ClusterRole',
  name: deferredUser,
} as const;

/** What is useless without the ClusterRole, by its place in the API. */
export const roleDependents = [
  { apiVersion: RBAC_VERSION, plural: 'clusterrolebindings', place: { name: deferredUser } },
  { apiVersion: RBAC_VERSION, plural: 'roles', place: { namespace, name: deferredUser } },
  { apiVersion: RBAC_VERSION, plural: 'rolebindings', place: { namespace, name: deferredUser } },
] as const;

/**
 * The objects to create before the agent runs. It may watch for kinds to become
 * served, create objects in these API groups and set their status, update its own
 * ConfigMap and delete its own ClusterRole: nothing else, and nothing that is built
 * into Kubernetes.
 */
export function deferredAccess(groups: readonly string[]): (KubernetesObject | V1ConfigMap)[] {
  const name = deferredUser;
  return [
    rbacRole({ name }, [
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['apiregistration.k8s.io'],
        resources: ['apiservices'],
        verbs: ['get', 'list', 'watch'],
      },
      // The plural name of a kind is known only once it is served.
      { apiGroups: [...groups], resources: ['*'], verbs: ['get', 'create'] },
      { apiGroups: [...groups], resources: ['*/status'], verbs: ['update'] },
      {
        apiGroups: [RBAC_GROUP],
        resources: ['clusterroles'],
        resourceNames: [deferredUser],
        verbs: ['delete'],
      },
    ]),
    rbacBinding({ name }, userSubject(name)),
    rbacRole({ namespace, name }, [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: [deferredStatus.name],
        verbs: ['get', 'update'],
      },
    ]),
    rbacBinding({ namespace, name }, userSubject(name)),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: deferredStatus, data: {} },
  ];
}

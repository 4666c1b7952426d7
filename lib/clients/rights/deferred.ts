import type {
  KubernetesObject,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1PolicyRule,
} from '@kubernetes/client-node';
/**
 * The API objects of the agent that applies deferred manifests: its rights, and the
 * ConfigMap with the state of each manifest.
 */
import { objectSchema } from '../kube/resources.ts';

const rbac = 'rbac.authorization.k8s.io';
const namespace = 'kube-system';

/** The agent's user; also the name of its roles and their bindings. */
export const deferredUser = 'sno-agents:deferred';

/** The ConfigMap with one entry for each deferred manifest; it stays as the record. */
export const deferredStatus = { namespace, name: 'sno-deferred' } as const;

/** The ClusterRole; Kubernetes' garbage collection deletes what it owns with it. */
export const deferredRole = {
  resource: { apiVersion: `${rbac}/v1`, plural: 'clusterroles', schema: objectSchema },
  kind: 'ClusterRole',
  name: deferredUser,
} as const;

/** What is useless without the ClusterRole, by its place in the API. */
export const roleDependents = [
  { apiVersion: `${rbac}/v1`, plural: 'clusterrolebindings', place: { name: deferredUser } },
  { apiVersion: `${rbac}/v1`, plural: 'roles', place: { namespace, name: deferredUser } },
  { apiVersion: `${rbac}/v1`, plural: 'rolebindings', place: { namespace, name: deferredUser } },
] as const;

/**
 * The objects to create before the agent runs. It may watch for kinds to become
 * served, create objects in these API groups and set their status, update its own
 * ConfigMap and delete its own ClusterRole: nothing else, and nothing that is built
 * into Kubernetes.
 */
export function deferredAccess(groups: readonly string[]): (KubernetesObject | V1ConfigMap)[] {
  return [
    role('ClusterRole', [
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
        apiGroups: [rbac],
        resources: ['clusterroles'],
        resourceNames: [deferredUser],
        verbs: ['delete'],
      },
    ]),
    binding('ClusterRoleBinding', 'ClusterRole'),
    role(
      'Role',
      [
        {
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: [deferredStatus.name],
          verbs: ['get', 'update'],
        },
      ],
      { namespace },
    ),
    binding('RoleBinding', 'Role', { namespace }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: deferredStatus, data: {} },
  ];
}

type Scope = { readonly namespace?: string };

function role(kind: string, rules: V1PolicyRule[], scope: Scope = {}): V1ClusterRole {
  return {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { ...scope, name: deferredUser },
    rules,
  };
}

function binding(kind: string, roleKind: string, scope: Scope = {}): V1ClusterRoleBinding {
  return {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { ...scope, name: deferredUser },
    roleRef: { apiGroup: rbac, kind: roleKind, name: deferredUser },
    subjects: [{ apiGroup: rbac, kind: 'User', name: deferredUser }],
  };
}

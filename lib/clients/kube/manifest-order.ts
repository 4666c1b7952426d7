import type { KindName } from './kind-name.ts';

/**
 * Kinds by what they need: each level may refer to the ones before it. Other kinds,
 * custom resources among them, come between configuration and workloads.
 */
const namedLevels: readonly (readonly string[])[] = [
  ['v1/Namespace', 'apiextensions.k8s.io/v1/CustomResourceDefinition'],
  [
    'scheduling.k8s.io/v1/PriorityClass',
    'storage.k8s.io/v1/StorageClass',
    'node.k8s.io/v1/RuntimeClass',
    'networking.k8s.io/v1/IngressClass',
    'rbac.authorization.k8s.io/v1/ClusterRole',
    'rbac.authorization.k8s.io/v1/Role',
    'security.openshift.io/v1/SecurityContextConstraints',
  ],
  [
    'v1/ServiceAccount',
    'v1/ConfigMap',
    'v1/Secret',
    'v1/LimitRange',
    'v1/ResourceQuota',
    'rbac.authorization.k8s.io/v1/ClusterRoleBinding',
    'rbac.authorization.k8s.io/v1/RoleBinding',
  ],
];

const workloads: readonly string[] = [
  'v1/Pod',
  'v1/ReplicationController',
  'apps/v1/DaemonSet',
  'apps/v1/Deployment',
  'apps/v1/ReplicaSet',
  'apps/v1/StatefulSet',
  'batch/v1/CronJob',
  'batch/v1/Job',
];

/** Last: each of them can block what is created after it until the service that it names runs. */
const gates: readonly string[] = [
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration',
  'apiregistration.k8s.io/v1/APIService',
];

const unnamedLevel = namedLevels.length;

/** 0 is applied first. */
function levelOf({ apiVersion, kind }: KindName): number {
  const name = `${apiVersion}/${kind}`;
  const named = namedLevels.findIndex((kinds) => kinds.includes(name));
  if (named >= 0) return named;
  if (gates.includes(name)) return unnamedLevel + 2;
  return workloads.includes(name) ? unnamedLevel + 1 : unnamedLevel;
}

/** The manifests level by level, in their given order within each. */
export function inLevels<T extends KindName>(manifests: readonly T[]): T[][] {
  const levels = Map.groupBy(manifests, levelOf);
  return [...levels].sort(([a], [b]) => a - b).map(([, level]) => level);
}

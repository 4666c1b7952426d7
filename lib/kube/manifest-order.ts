import type { KindName } from './kind-name.ts';
import type { Manifest } from './manifest-decoding.ts';

/**
 * Kinds by what they need: each level may refer to the ones before it. Kinds that
 * are not named, custom resources among them, stand between configuration and workloads.
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

/** Last: each of them can hold up everything that is created after it, until what it names runs. */
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

/** The manifests level by level, in their given order inside each. */
export function inLevels<T extends Pick<Manifest, 'apiVersion' | 'kind'>>(
  manifests: readonly T[],
): T[][] {
  const levels: T[][] = Array.from({ length: unnamedLevel + 3 }, () => []);
  for (const manifest of manifests) levels[levelOf(manifest)]?.push(manifest);
  return levels.filter((level) => level.length > 0);
}

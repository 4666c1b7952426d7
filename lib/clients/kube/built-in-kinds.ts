import { groupOf } from './kind-name.ts';

/** A kind of Kubernetes, in a version that is not an alpha or a beta. */
export interface BuiltInKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** Whether alphas and betas of it are served, too, or were by OpenShift 4.14. */
  readonly isYoung: boolean;
}

/** By their versions; of a kind in two of one group, the newer one is first. */
const OF_NAMESPACES: Readonly<Record<string, string>> = {
  v1: 'Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount',
  'apps/v1': 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
  'authorization.k8s.io/v1': 'LocalSubjectAccessReview',
  'autoscaling/v2': 'HorizontalPodAutoscaler',
  'autoscaling/v1': 'HorizontalPodAutoscaler',
  'batch/v1': 'CronJob Job',
  'certificates.k8s.io/v1': 'PodCertificateRequest',
  'coordination.k8s.io/v1': 'Lease',
  'discovery.k8s.io/v1': 'EndpointSlice',
  'events.k8s.io/v1': 'Event',
  'networking.k8s.io/v1': 'Ingress NetworkPolicy',
  'policy/v1': 'PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1': 'Role RoleBinding',
  'resource.k8s.io/v1': 'ResourceClaim ResourceClaimTemplate',
  'storage.k8s.io/v1': 'CSIStorageCapacity',
};
const OF_CLUSTER: Readonly<Record<string, string>> = {
  v1: 'Namespace Node PersistentVolume',
  'admissionregistration.k8s.io/v1':
    'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1': 'CustomResourceDefinition',
  'apiregistration.k8s.io/v1': 'APIService',
  'authentication.k8s.io/v1': 'SelfSubjectReview TokenReview',
  'authorization.k8s.io/v1': 'SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  'certificates.k8s.io/v1': 'CertificateSigningRequest ClusterTrustBundle',
  'flowcontrol.apiserver.k8s.io/v1': 'FlowSchema PriorityLevelConfiguration',
  'networking.k8s.io/v1': 'IPAddress IngressClass ServiceCIDR',
  'node.k8s.io/v1': 'RuntimeClass',
  'rbac.authorization.k8s.io/v1': 'ClusterRole ClusterRoleBinding',
  'resource.k8s.io/v1': 'DeviceClass DeviceTaintRule ResourceSlice',
  'scheduling.k8s.io/v1': 'PriorityClass',
  'storage.k8s.io/v1': 'CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass',
  'storagemigration.k8s.io/v1': 'StorageVersionMigration',
};
const YOUNG: ReadonlySet<string> = new Set(
  'ClusterTrustBundle DeviceClass DeviceTaintRule FlowSchema IPAddress MutatingAdmissionPolicy MutatingAdmissionPolicyBinding PodCertificateRequest PriorityLevelConfiguration ResourceClaim ResourceClaimTemplate ResourceSlice SelfSubjectReview ServiceCIDR StorageVersionMigration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding VolumeAttributesClass'.split(
    ' ',
  ),
);

const kindsIn = (table: Readonly<Record<string, string>>, isNamespaced: boolean): BuiltInKind[] =>
  Object.entries(table).flatMap(([apiVersion, kinds]) =>
    kinds.split(' ').map((kind) => ({ apiVersion, kind, isNamespaced, isYoung: YOUNG.has(kind) })),
  );

/**
 * Each kind that some kube-apiserver of 1.34 to 1.37 serves to be created, in its versions that are no alphas and no betas
 * (k8s.io/api 0.34 and 0.37). Compared with the discovery of a real one in `test/integration/object-faults.test.ts`.
 */
export const builtInKinds: readonly BuiltInKind[] = [
  ...kindsIn(OF_NAMESPACES, true),
  ...kindsIn(OF_CLUSTER, false),
];

/** The kind in this version, if it is served. */
export const builtInKind = (apiVersion: string, kind: string): BuiltInKind | undefined =>
  builtInKinds.find((each) => each.apiVersion === apiVersion && each.kind === kind);

/** The kind of this name, in letters of any case: in the group of this version if it is there, otherwise in any. */
export function namedLike(apiVersion: string, name: string): BuiltInKind | undefined {
  const named = builtInKinds.filter(({ kind }) => kind.toLowerCase() === name.toLowerCase());
  return named.find((each) => groupOf(each.apiVersion) === groupOf(apiVersion)) ?? named[0];
}

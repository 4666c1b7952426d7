import type { Minor } from '../../base/minor.ts';

/** Groups that not every supported kube-apiserver serves by default, and since when. */
export const LATER_GROUPS: ReadonlyMap<string, Minor> = new Map([
  ['storagemigration.k8s.io', '1.37'],
]);

/**
 * The API groups that a supported kube-apiserver serves by itself, the core group ('') among them. No
 * CustomResourceDefinition and no aggregated API adds a kind to one of these, in an earlier version neither: the names
 * belong to Kubernetes. Compared with the discovery of a real server in `test/integration/deferred.test.ts`.
 */
export const builtInGroups: ReadonlySet<string> = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  ...LATER_GROUPS.keys(),
]);

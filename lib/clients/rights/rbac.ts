import type { RbacV1Subject, V1PolicyRule } from '@kubernetes/client-node';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';
export const RBAC_VERSION = `${RBAC_GROUP}/v1`;

/** Of a role or a binding. Without a namespace it is of the whole cluster. */
interface Place {
  readonly name: string;
  readonly namespace?: string;
}

const scoped = (kind: string, { namespace }: Place): string =>
  namespace === undefined ? `Cluster${kind}` : kind;

/** A Role in a namespace, or a ClusterRole. */
export const rbacRole = (place: Place, rules: V1PolicyRule[]) => ({
  apiVersion: RBAC_VERSION,
  kind: scoped('Role', place),
  metadata: { ...place },
  rules,
});

/** The binding of the Role of that name in the same namespace, or of the ClusterRole. Default: of the same name. */
export const rbacBinding = (place: Place, subject: RbacV1Subject, role = place.name) => ({
  apiVersion: RBAC_VERSION,
  kind: scoped('RoleBinding', place),
  metadata: { ...place },
  roleRef: { apiGroup: RBAC_GROUP, kind: scoped('Role', place), name: role },
  subjects: [subject],
});

const subjectOf = (kind: string) => (name: string) => ({ apiGroup: RBAC_GROUP, kind, name });
export const groupSubject = subjectOf('Group');
export const userSubject = subjectOf('User');

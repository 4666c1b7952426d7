/** Labels by which a node has a role. A node's taint has the name of its role too. */
export const ROLES = {
  /** OpenShift's control plane; Kubernetes' before 1.24. */
  master: 'node-role.kubernetes.io/master',
  controlPlane: 'node-role.kubernetes.io/control-plane',
} as const;

export type Role = (typeof ROLES)[keyof typeof ROLES];

/** The value is empty by convention: the name of the label is the role. */
export const roleLabel = (role: Role): Readonly<Record<string, string>> => ({ [role]: '' });

/** Keeps pods off the nodes of a role. */
export const roleTaint = (role: Role) => ({ key: role, effect: 'NoSchedule' }) as const;

/** Lets a pod run on the nodes of a role in spite of their taint. */
export const roleToleration = (role: Role) =>
  ({ key: role, operator: 'Exists', effect: 'NoSchedule' }) as const;

import { ROLES, roleLabel, roleTaint, roleToleration } from './roles.ts';
import type { TopologyRow } from './rows.ts';

/** The control-plane node of a Kubernetes cluster: nothing but this makes it one. */
export function controlPlaneNode({ mastersSchedulable }: Pick<TopologyRow, 'mastersSchedulable'>) {
  return {
    labels: roleLabel(ROLES.controlPlane),
    taints: mastersSchedulable ? [] : [roleTaint(ROLES.controlPlane)],
  };
}

/**
 * Where pods of an ingress controller belong. Kubernetes has no label for workers: without a
 * toleration, the taint alone keeps pods off a control-plane node.
 */
export function ingressPlacement({ ingress }: Pick<TopologyRow, 'ingress'>) {
  const { pool, replicas, toleratesControlPlane } = ingress;
  return {
    replicas,
    nodeSelector: {
      'kubernetes.io/os': 'linux',
      ...(pool === 'master' ? roleLabel(ROLES.controlPlane) : {}),
    },
    tolerations: toleratesControlPlane ? [roleToleration(ROLES.controlPlane)] : [],
  };
}

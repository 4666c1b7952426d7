/** By kind of control plane: the Leases of kube-system that its leaders hold. */
export const LEADER_LEASES = {
  kubernetes: ['kube-controller-manager', 'kube-scheduler'],
  // Its scheduler's is in openshift-kube-scheduler.
  openshift: ['kube-controller-manager'],
} as const;

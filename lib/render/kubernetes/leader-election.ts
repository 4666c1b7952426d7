import type { HeldLease } from '../renderer.ts';

/**
 * Even with one controller-manager and one scheduler, both hold a Lease: while they
 * acquire it they wait for an API that starts late, where they would exit
 * otherwise. The renew deadline lets them survive a restart of the API server; the
 * duration is how long one that was killed waits for its own old Lease to expire.
 */
export const leaderElection = {
  leaseDuration: '60s',
  renewDeadline: '45s',
  retryPeriod: '3s',
} as const;

/** Under their default names. */
export const leases: HeldLease[] = ['kube-controller-manager', 'kube-scheduler'].map((name) => ({
  namespace: 'kube-system',
  name,
}));

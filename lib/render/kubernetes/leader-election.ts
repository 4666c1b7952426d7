import type { HeldLease } from '../renderer.ts';

/**
 * There is one controller-manager and one scheduler, and both keep a Lease all the
 * same: acquiring it is how they wait for an API that comes late, where without it
 * they exit. The renewal deadline lets them outlive a restart of the API server;
 * the duration is what a killed one waits for its own former Lease to run out.
 */
export const leaderElection = {
  leaseDuration: '60s',
  renewDeadline: '45s',
  retryPeriod: '3s',
} as const;

/** By their default names: neither component is told another. */
export const leases: HeldLease[] = ['kube-controller-manager', 'kube-scheduler'].map((name) => ({
  namespace: 'kube-system',
  name,
}));

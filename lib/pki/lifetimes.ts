/** How long what the Kubernetes payload's authorities sign is valid, and why. */
export const lifetimes = {
  /**
   * Nothing replaces an authority on a running host, so it outlives the hardware
   * that it is installed on.
   */
  authorityDays: 3650,
  /**
   * A stolen leaf is of use for a year at most. No operator renews leaves here:
   * the host signs them again at boot, and the kubelet rotates its own.
   */
  leafDays: 365,
  /**
   * The host re-signs a leaf at boot when less than this, a third of its life, is
   * left: a host with fewer days than these between reboots never runs on an expired one.
   */
  leafRenewalDays: 122,
  /** It lies on a laptop, where nothing renews it; it is as good as its authority. */
  adminKubeconfigDays: 3650,
  /**
   * Everything is valid from this long before it was signed: the laptop, the live
   * host and the installed host each have a clock and none is set by the others.
   */
  backdatingHours: 24,
} as const;

const hourMs = 3_600_000;

/** Validity of something signed at `now`. */
export function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  return {
    notBefore: new Date(now.getTime() - lifetimes.backdatingHours * hourMs),
    notAfter: new Date(now.getTime() + daysMs(days)),
  };
}

export function daysMs(days: number): number {
  return days * 24 * hourMs;
}

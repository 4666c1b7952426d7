/** How long certificates of the Kubernetes payload are valid, and why. */
export const lifetimes = {
  /**
   * Nothing replaces an authority on a running host, so it outlives the hardware.
   */
  authorityDays: 3650,
  /**
   * A stolen leaf is usable for a year at most. No operator renews leaves: the host
   * renews them at boot, and the kubelet rotates its own.
   */
  leafDays: 365,
  /**
   * The host renews a leaf at boot when less than this, a third of its lifetime, is left:
   * a host that reboots at least this often never runs with an expired one.
   */
  leafRenewalDays: 122,
  /**
   * Every certificate is valid from this long before it is signed: the clocks of the laptop,
   * the live host and the installed host may differ.
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

/** How long certificates of the Kubernetes payload are valid, and why. */
export const lifetimes = {
  /**
   * Longer than hardware is in use: an authority is replaced only on request (`sno-certificates
   * rotate-ca`), never because it expires.
   */
  authorityDays: 3650,
  /**
   * A stolen leaf is usable for a year at most. No operator renews leaves: sno-renew does daily,
   * sno-certificates before the kubelet starts, and the kubelet requests its own.
   */
  leafDays: 365,
  /**
   * A leaf is renewed when less than this, a third of its lifetime, is left: so many daily attempts
   * may fail before it expires.
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

/** When something was signed that is valid from `notBefore`. */
export const signedAt = (notBefore: Date): Date =>
  new Date(notBefore.getTime() + lifetimes.backdatingHours * hourMs);

export function daysMs(days: number): number {
  return days * 24 * hourMs;
}

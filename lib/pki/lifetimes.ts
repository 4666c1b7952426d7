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

/**
 * When something is signed. Both are required: the clock of a host may be fast by more than
 * backdatingHours, and what nobody signs again would begin in the future once it is right.
 */
export interface SigningTime {
  /** By the clock of whoever signs. The lifetime is counted from it. */
  readonly now: Date;
  /**
   * The validity begins here if that is earlier than usual: a time that has certainly passed, such as
   * the beginning of what is replaced or of the signer. `now` if there is none.
   */
  readonly validFrom: Date;
}

/**
 * Validity of something signed at a time.
 *
 * @throws RangeError if a date or `days` is no number: no comparison would see it, and a leaf would be valid as long as its authority
 */
export function validity(
  { now, validFrom }: SigningTime,
  days: number,
): { notBefore: Date; notAfter: Date } {
  if (![now.getTime(), validFrom.getTime(), days].every(Number.isFinite)) {
    throw new RangeError(`signed at ${now}, valid from ${validFrom} for ${days} days`);
  }
  const backdated = new Date(now.getTime() - lifetimes.backdatingHours * hourMs);
  return {
    notBefore: validFrom < backdated ? validFrom : backdated,
    notAfter: new Date(now.getTime() + daysMs(days)),
  };
}

/** When something was signed that is valid from `notBefore`. */
export const signedAt = (notBefore: Date): Date =>
  new Date(notBefore.getTime() + lifetimes.backdatingHours * hourMs);

export function daysMs(days: number): number {
  return days * 24 * hourMs;
}

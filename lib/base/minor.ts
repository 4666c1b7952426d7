/** A minor version, such as 1.37 or 4.21. */
export type Minor = `${number}.${number}`;

/** The minor versions in which something applies, both inclusive. */
export interface Validity {
  readonly since?: Minor;
  readonly until?: Minor;
}

/** Of a version with or without `v`, such as v1.37.2 or 4.21.0-rc.1. Undefined for what is no version. */
export function minorOf(version: string): Minor | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)\./.exec(version) ?? [];
  return major === undefined ? undefined : `${Number(major)}.${Number(minor)}`;
}

export function appliesIn(version: Minor, { since, until }: Validity): boolean {
  return (
    (since === undefined || compareMinors(version, since) >= 0) &&
    (until === undefined || compareMinors(version, until) <= 0)
  );
}

/** Negative: `a` is the older one. */
export function compareMinors(a: Minor, b: Minor): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}

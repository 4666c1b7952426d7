import { Failure } from '../../base/errors/failure.ts';

/** A minor version, such as 4.21. */
export type Minor = `${number}.${number}`;

/** The minor versions in which something applies, both inclusive. */
export interface Validity {
  readonly since?: Minor;
  readonly until?: Minor;
}

/** The releases that the table of stages describes. */
export const KNOWN_RELEASES = { since: '4.14', until: '4.22' } as const satisfies Validity;

/**
 * The minor version of a release such as 4.21.3 or 4.21.0-0.nightly-2026-01-01-000000.
 * @throws Failure (fatal) if the release is not in the table
 */
export function knownMinor(version: string): Minor {
  const found = minorOf(version);
  if (found !== undefined && appliesIn(found, KNOWN_RELEASES)) return found;
  throw new Failure('fatal', `OpenShift ${version} cannot be rendered`, {
    expected: `a release from ${KNOWN_RELEASES.since} to ${KNOWN_RELEASES.until}`,
    found: version,
    fix: 'Use a release image of one of these versions.',
  });
}

/** Undefined for what is no version. */
export function minorOf(version: string): Minor | undefined {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? [];
  return major === undefined ? undefined : `${Number(major)}.${Number(minor)}`;
}

export function appliesIn(version: Minor, { since, until }: Validity): boolean {
  return (
    (since === undefined || compare(version, since) >= 0) &&
    (until === undefined || compare(version, until) <= 0)
  );
}

function compare(a: Minor, b: Minor): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}

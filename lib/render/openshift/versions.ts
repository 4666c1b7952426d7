import { Failure } from '../../base/errors/failure.ts';
import { appliesIn, type Minor, minorOf, type Validity } from '../../base/minor.ts';

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

import { compareMinors, type Minor } from '../../base/minor.ts';

/** A minor release of OpenShift, such as 4.21 or 5.0. */
export type Release = Minor;

/** The first one whose installation is known (docs/reference/openshift-releases.md); all since read the same fields. */
export const FIRST_RELEASE: Release = '4.14';

/** The last one in which what a topology determines was compared (docs/reference/openshift-releases.md). */
export const LATEST_RELEASE: Release = '5.0';

/** `4.19`, also of `4.19.3` and `4.19.0-rc.1`; undefined if it is no release from 4.14 on. */
export function parseTopologyRelease(text: string): Release | undefined {
  const [, major, minor] = /^(\d{1,2})\.(\d{1,3})(?:\.\d+(?:[-+.].*)?)?$/.exec(text) ?? [];
  if (major === undefined) return undefined;
  const release: Release = `${Number(major)}.${Number(minor)}`;
  return compareMinors(release, FIRST_RELEASE) >= 0 ? release : undefined;
}

import { compareMinors, type Minor } from '../../base/minor.ts';

/** A minor release of OpenShift, such as 4.21 or 5.0. */
export type Release = Minor;

/** Earlier ones have no etcd operator, and etcd is set up in another way. */
export const FIRST_RELEASE: Release = '4.4';

/** The last one in which what a topology determines was compared (docs/reference/openshift-releases.md). */
export const LATEST_RELEASE: Release = '5.0';

/** Operators read the topologies from here on; they replace the overrides (openshift/api 827). */
const TOPOLOGY_FIELDS: Release = '4.8';

/** `status.defaultPlacement` of the Ingress config (openshift/cluster-ingress-operator 728, 767). */
const DEFAULT_PLACEMENT: Release = '4.11';

export const hasTopologyFields = (release: Release): boolean =>
  compareMinors(release, TOPOLOGY_FIELDS) >= 0;
export const hasDefaultPlacement = (release: Release): boolean =>
  compareMinors(release, DEFAULT_PLACEMENT) >= 0;

/** `4.19`, also of `4.19.3` and `4.19.0-rc.1`; undefined if it is no release from 4.4 on. */
export function parseTopologyRelease(text: string): Release | undefined {
  const [, major, minor] = /^(\d{1,2})\.(\d{1,3})(?:\.\d+(?:[-+.].*)?)?$/.exec(text) ?? [];
  if (major === undefined) return undefined;
  const release: Release = `${Number(major)}.${Number(minor)}`;
  return compareMinors(release, FIRST_RELEASE) >= 0 ? release : undefined;
}

/** A minor release of OpenShift 4: `4.<minor>`. */
export interface Release {
  readonly minor: number;
}

/** Earlier ones have no etcd operator, and etcd is set up in another way. */
export const FIRST_RELEASE: Release = { minor: 4 };

/** The last one whose sources were read. */
export const LATEST_RELEASE: Release = { minor: 21 };

/** Operators read the topologies from here on; they replace the overrides (openshift/api 827). */
const TOPOLOGY_FIELDS = 8;

/** `status.defaultPlacement` of the Ingress config (openshift/cluster-ingress-operator 728, 767). */
const DEFAULT_PLACEMENT = 11;

export const hasTopologyFields = ({ minor }: Release): boolean => minor >= TOPOLOGY_FIELDS;
export const hasDefaultPlacement = ({ minor }: Release): boolean => minor >= DEFAULT_PLACEMENT;

/** `4.19`, also of `4.19.3` and `4.19.0-rc.1`; undefined if it is no release from 4.4 on. */
export function parseTopologyRelease(text: string): Release | undefined {
  const minor = Number(/^4\.(\d{1,3})(?:\.\d+(?:[-+.].*)?)?$/.exec(text)?.[1]);
  return minor >= FIRST_RELEASE.minor ? { minor } : undefined;
}

export const releaseText = ({ minor }: Release): string => `4.${minor}`;

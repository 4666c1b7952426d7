import { Failure } from '../../lib/base/errors/failure.ts';
import { some } from '../../report/reading/words.ts';
import type { SeenSite } from './read-sites.ts';
import type { SiteObject } from './site.ts';

const MOST_NAMED = 5;

/** What no Site can bring a node, and what brings it. */
const OBSTACLES = {
  openshift: {
    what: 'OpenShift updates itself, and takes no update of a Site',
    fix: 'Update the cluster at its site with "oc adm upgrade" (docs/openshift.md), or by a policy of RHACM, and set spec.action to none.',
  },
  silent: {
    what: 'the node does not report to this Site, and would not hear of it',
    expected:
      'a Site by which a Job of this hub has installed or moved a node with a control plane',
    fix: 'Run "sno-update run --from URL" on the node, as on each worker.',
  },
} as const;

type Obstacle = keyof typeof OBSTACLES;

/** Why the update of a Site reaches no node. */
export function notUpdatable(obstacle: Obstacle): Failure {
  const { what, ...details } = OBSTACLES[obstacle];
  return new Failure('usage', what, { code: 'update-refused', ...details });
}

export const isOpenShift = ({ status }: Pick<SiteObject, 'status'>): boolean =>
  status?.volume?.controlPlane === 'openshift';

/** By what is known of it without the Secrets of the hub. A Site from a backup has no status until its node reports. */
function obstacleOf({ spec, status }: SiteObject): Obstacle | undefined {
  if (spec.action !== 'update') return undefined;
  if (isOpenShift({ status })) return 'openshift';
  return status?.volume === undefined && status?.report === undefined ? 'silent' : undefined;
}

/** @throws Failure (usage) that names the Sites of a wave whose update reaches no node */
export function requireUpdatable(sites: readonly Pick<SeenSite, 'name' | 'site'>[]): void {
  for (const obstacle of ['openshift', 'silent'] as const) {
    const found = sites.filter(({ site }) => site !== undefined && obstacleOf(site) === obstacle);
    if (found.length === 0) continue;
    const { what, details } = notUpdatable(obstacle);
    const names = some(
      found.map(({ name }) => name),
      MOST_NAMED,
    );
    throw new Failure('usage', `${what}; nothing was printed`, {
      ...details,
      found: `action update in ${names}`,
    });
  }
}

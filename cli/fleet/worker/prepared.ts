import { Failure } from '../../../lib/base/errors/failure.ts';
import type { SiteStatus } from '../../../lib/engine/report/site-status.ts';
import type { Surroundings } from '../../surroundings.ts';
import type { Hub } from './hub.ts';
import type { HubSite } from './kinds.ts';
import type { Published } from './publish.ts';
import type { NodesHub } from './report-access.ts';

/** How a run delivers. */
export interface HubDelivery extends Pick<Surroundings, 'print' | 'notice' | 'environment'> {
  readonly place: Published;
  readonly nodesHub: NodesHub;
  /** The SSH key that signs volumes; undefined: none. */
  readonly sign: string | undefined;
  /** The ISO of `sno create shared-iso`; undefined: this run installs nothing. */
  readonly shared: string | undefined;
  /** Live hosts fetch their config from the published folder; undefined: it is on the ISO. */
  readonly configByUrl: { readonly ca: string | undefined } | undefined;
}

/** What is ready for a node, whatever its Site asks for. */
export interface PreparedSite {
  /** What there is to know of it, beside its serial. */
  readonly note?: string;
  readonly volume: Omit<NonNullable<SiteStatus['volume']>, 'serial' | 'action' | 'publishedAt'>;
  /** How it gets to the node: a word, and what is left to be done. */
  readonly reason: string;
  readonly message: string;
  /** Does what this program can do for that; it can be repeated. */
  deliver(): Promise<void>;
}

/** Makes what a Site asks for; it can be repeated. @throws Failure (usage) if the Site cannot be */
export type Prepare = (hub: Hub, site: HubSite, delivery: HubDelivery) => Promise<PreparedSite>;

export type By = NonNullable<HubSite['spec']['delivery']>['by'];

/** How something that is published is delivered. @throws Failure (usage) if nothing says that, or it needs an address */
export function requireDelivery({ spec: { delivery } }: HubSite, { url }: Published): By {
  if (delivery === undefined) {
    throw new Failure('usage', 'spec.delivery is missing', {
      expected: 'by: virtualMedia, url or person',
    });
  }
  if (delivery.by === 'virtualMedia' && url === undefined) {
    throw new Failure('usage', 'the volume is for virtual media, and has no address', {
      fix: 'Set --publish-url: the address at which a BMC finds the folder of --publish.',
    });
  }
  return delivery.by;
}

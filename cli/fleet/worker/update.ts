import { Failure } from '../../../lib/base/errors/failure.ts';
import { isOpenShift, notUpdatable } from '../updatable.ts';
import type { Hub } from './hub.ts';
import { readKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import type { PreparedSite } from './prepared.ts';
import { resetForSerial } from './progress.ts';

/**
 * A signed update. Nothing is published for one Site: its node reads in the answer to its report which update it is to take, and
 * fetches that itself.
 */
export async function prepareUpdate(hub: Hub, site: HubSite): Promise<PreparedSite> {
  const { update } = site.spec;
  if (update === undefined) {
    throw new Failure('usage', 'spec.update is missing', {
      expected: 'url and serial of a folder of "sno create update"',
    });
  }
  if (isOpenShift(site)) throw notUpdatable('openshift');
  const kept = await readKept(hub, site);
  if (kept?.uid !== site.metadata.uid || kept?.reportTo === undefined) {
    throw notUpdatable('silent');
  }
  await resetForSerial(hub, site);
  return {
    volume: { url: update.url },
    reason: 'report',
    message: 'the node hears of the update in the answer to its report, within twenty minutes',
    deliver: async () => undefined,
  };
}

import { done } from '../../../lib/engine/steps/step.ts';
import { requireCables } from '../cables.ts';
import { type AskedNameServers, answered, isKept, keepNetwork, wrong } from '../network.ts';
import type { SiteStep } from '../or-back.ts';
import { bridgeAddresses, dismantleBridge, makeBridge } from './bridge.ts';

/** The name servers of the network. /etc/resolv.conf names the node itself, which asks these. */
export const NAME_SERVERS = '/run/NetworkManager/no-stub-resolv.conf';

const nameServers: AskedNameServers = async () => NAME_SERVERS;

/**
 * The network of the site, and the bridge of the pod network from its adapter. The adapter is taken out of the bridge first:
 * as a port it has no address. The site must answer twice: through the adapter before its network is kept, and through
 * the bridge at the end. Whatever fails, the host restarts: the bridge is only in /run, and is made again from the earlier profiles.
 */
export const siteNetworkOnOpenShift: SiteStep = {
  name: 'network',
  leaves: "the site's network on the bridge of the pod network, over which its servers answer",
  touches: ['disk', 'network', 'systemd'],
  neededUntil: 'start',
  async holds(context, { signal }) {
    if (!(await isKept(context))) return false;
    if ((await bridgeAddresses(context, signal)).length === 0) return false;
    return (await wrong(context, nameServers)).length === 0;
  },
  async run(context, progress) {
    const { networkConfig } = context.site;
    if (networkConfig !== undefined) {
      await requireCables(context);
      await dismantleBridge(progress);
      await keepNetwork(context, networkConfig, progress, nameServers);
    }
    const isThere = (await bridgeAddresses(context, progress.signal)).length > 0;
    if (networkConfig !== undefined || !isThere) await makeBridge(context, progress);
    await answered(context, progress, nameServers);
    return done((await bridgeAddresses(context, progress.signal)).join(', '));
  },
};

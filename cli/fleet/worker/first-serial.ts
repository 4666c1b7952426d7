import { highestSerial, machinesOf } from './claims.ts';
import type { Hub } from './hub.ts';
import { gatherInputs } from './inputs.ts';
import { readKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { renderSite } from './render.ts';

/**
 * The serial of the first run of a Site in which nobody has written one: that with which it was begun, that of its template, else one
 * above all that this hub has used for its machine. A node takes no volume that is not newer than the last.
 */
export async function firstSerial(hub: Hub, site: HubSite): Promise<number> {
  const kept = await readKept(hub, site);
  if (kept !== undefined && kept.uid === site.metadata.uid) return kept.serial;
  const { machines, serial } = await knownBy(hub, site);
  return serial ?? Math.max(kept?.serial ?? 0, await highestSerial(hub, machines)) + 1;
}

/** By what its machine is known, and which serial the template has. */
async function knownBy(hub: Hub, site: HubSite) {
  if (site.spec.action !== 'relocate') {
    return { machines: machinesOf(site, { hosts: [] }, undefined), serial: undefined };
  }
  const inputs = await gatherInputs(hub, site);
  const context = { now: new Date(), signal: hub.signal };
  const { config } = await renderSite(inputs, undefined, context);
  return { machines: machinesOf(site, config, inputs.facts), serial: config.serial };
}

import { Failure } from '../../../lib/base/errors/failure.ts';
import type { ShippedHostFacts } from '../../../lib/config/site-config/host-facts.ts';
import type { SiteConfig } from '../../../lib/config/site-config/site-config.ts';
import { FLEET } from '../../../lib/engine/report/site-status.ts';
import { sha256 } from '../../../lib/host/files.ts';
import type { Hub } from './hub.ts';
import { type HubSite, hubKinds, metadataOf } from './kinds.ts';

/** By what a machine is known: its identifiers and its BareMetalHost. A volume for every node claims none. */
export function machinesOf(
  { spec }: Pick<HubSite, 'spec'>,
  { hosts }: Pick<SiteConfig, 'hosts'>,
  facts: Pick<ShippedHostFacts, 'identifiers'> | undefined,
): string[] {
  const host = spec.delivery?.bareMetalHost?.name;
  const identifiers = [...hosts, ...(facts?.identifiers ?? [])].map((each) => each.toLowerCase());
  return [
    ...(host === undefined ? [] : [`BareMetalHost ${host}`]),
    ...new Set(identifiers),
  ].toSorted();
}

const MACHINE = `${FLEET.group}/machine`;
const HOLDER = `${FLEET.group}/site-uid`;

/** Its name is the machine: who creates it first has it, however many Sites there are and whoever asks meanwhile. */
const claimName = (machine: string) => `sno-machine-${sha256(machine).slice(0, 40)}`;

/**
 * Claims machines for a Site, until that is deleted, or somebody sets its action to none.
 *
 * @throws Failure (usage) if another Site has one; then none is claimed anew
 */
export async function claimMachines(
  hub: Hub,
  site: HubSite,
  machines: readonly string[],
): Promise<void> {
  const claimed: string[] = [];
  for (const machine of machines) {
    const holder = await claim(hub, site, machine);
    if (holder === undefined) claimed.push(machine);
    if (holder === undefined || holder === site.metadata.name) continue;
    await releaseMachines(hub, site, claimed);
    throw new Failure('usage', `another Site is for the machine ${machine}`, {
      code: 'site-config-refused',
      expected: 'one Site for each machine',
      found: `the Site ${holder}`,
      fix: 'Delete one of the two, or set its action to none.',
    });
  }
}

/** Gives back what this Site has claimed. */
export async function releaseMachines(
  hub: Hub,
  site: HubSite,
  machines: readonly string[],
): Promise<void> {
  for (const machine of machines) {
    const name = claimName(machine);
    const lease = await hub.find(hubKinds.leases, name);
    if (lease?.spec?.holderIdentity === site.metadata.name) await hub.remove(hubKinds.leases, name);
  }
}

/** Who had it before; undefined: nobody, and now this Site has it. */
async function claim(hub: Hub, site: HubSite, machine: string): Promise<string | undefined> {
  const name = claimName(machine);
  const body = {
    apiVersion: hubKinds.leases.apiVersion,
    kind: 'Lease',
    metadata: {
      ...metadataOf(site, name, { isOwned: true }),
      annotations: { [MACHINE]: machine, [HOLDER]: site.metadata.uid ?? '' },
    },
    spec: { holderIdentity: site.metadata.name },
  };
  if (await hub.create(hubKinds.leases, body)) return undefined;
  const lease = await hub.find(hubKinds.leases, name);
  const { resourceVersion } = lease?.metadata ?? {};
  const holder = lease?.spec?.holderIdentity ?? '';
  const isOwn = holder === site.metadata.name;
  // An earlier Site of this name takes its claims with it.
  const isSame = lease?.metadata.annotations?.[HOLDER] === site.metadata.uid;
  if (isOwn ? isSame : holder !== '' && (await isHeldBy(hub, holder))) return holder;
  const replaced = { ...body, metadata: { ...body.metadata, resourceVersion } };
  await hub.replace(hubKinds.leases, name, replaced);
  return undefined;
}

async function isHeldBy(hub: Hub, name: string): Promise<boolean> {
  const holder = await hub.find(hubKinds.sites, name);
  return holder !== undefined && holder.spec.action !== 'none';
}

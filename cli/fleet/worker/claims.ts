import type { z } from 'zod';
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

type Lease = z.infer<(typeof hubKinds.leases)['schema']>;

const MACHINE = `${FLEET.group}/machine`;
const HOLDER = `${FLEET.group}/site-uid`;
/** The highest that was used for the machine, by whichever Site. */
const SERIAL = `${FLEET.group}/serial`;

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

/** The highest serial that any Site has used for one of the machines; 0 if none has. */
export async function highestSerial(hub: Hub, machines: readonly string[]): Promise<number> {
  let highest = 0;
  for (const machine of machines) {
    highest = Math.max(highest, serialOf(await hub.find(hubKinds.leases, claimName(machine))));
  }
  return highest;
}

const serialOf = (lease: Lease | undefined): number => {
  const serial = Number(lease?.metadata.annotations?.[SERIAL]);
  return Number.isSafeInteger(serial) ? serial : 0;
};

/** Gives back what this Site has claimed. What was used for a machine is still known of it. */
export async function releaseMachines(
  hub: Hub,
  site: HubSite,
  machines: readonly string[],
): Promise<void> {
  for (const machine of machines) {
    const name = claimName(machine);
    const lease = await hub.find(hubKinds.leases, name);
    if (lease?.spec?.holderIdentity !== site.metadata.name) continue;
    await hub.replace(hubKinds.leases, name, { ...lease, spec: {} });
  }
}

/** Who had it before; undefined: nobody, and now this Site has it. */
async function claim(hub: Hub, site: HubSite, machine: string): Promise<string | undefined> {
  const name = claimName(machine);
  const claimedWith = (serial: number) => ({
    apiVersion: hubKinds.leases.apiVersion,
    kind: 'Lease',
    metadata: {
      ...metadataOf(site, name, { isOwned: false }),
      annotations: {
        [MACHINE]: machine,
        [HOLDER]: site.metadata.uid ?? '',
        [SERIAL]: `${serial}`,
      },
    },
    spec: { holderIdentity: site.metadata.name },
  });
  const { serial } = site.spec;
  if (await hub.create(hubKinds.leases, claimedWith(serial))) return undefined;
  const lease = await hub.find(hubKinds.leases, name);
  const { resourceVersion } = lease?.metadata ?? {};
  const holder = lease?.spec?.holderIdentity ?? '';
  const isOwn = holder === site.metadata.name;
  if (!isOwn && holder !== '' && (await isHeldBy(hub, holder))) return holder;
  // An earlier Site of this name had a claim of its own.
  const isSame = isOwn && lease?.metadata.annotations?.[HOLDER] === site.metadata.uid;
  const before = serialOf(lease);
  if (isSame && before >= serial) return holder;
  const { metadata, ...body } = claimedWith(Math.max(before, serial));
  await hub.replace(hubKinds.leases, name, { ...body, metadata: { ...metadata, resourceVersion } });
  return isSame ? holder : undefined;
}

async function isHeldBy(hub: Hub, name: string): Promise<boolean> {
  const holder = await hub.find(hubKinds.sites, name);
  return holder !== undefined && holder.spec.action !== 'none';
}

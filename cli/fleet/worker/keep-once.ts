import { randomBytes } from 'node:crypto';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { claimMachines, releaseMachines } from './claims.ts';
import type { Hub } from './hub.ts';
import { type Kept, readKept, type StoredKept, setAside, writeKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { type Published, withdraw } from './publish.ts';

/** What is made once for a serial of a Site. */
export interface Once {
  /** A digest of all that makes what is published another one. */
  readonly source: string;
  readonly machines: readonly string[];
  make(): Promise<Pick<Kept, 'made' | 'reportTo' | 'asked'>>;
}

/** What the first run for this serial has made; makes it if this is the first one. */
export async function keepOnce(
  hub: Hub,
  site: HubSite,
  { source, machines, make }: Once,
  place: Published,
): Promise<StoredKept> {
  const { serial } = site.spec;
  await claimMachines(hub, site, machines);
  const { uid = '' } = site.metadata;
  const before = await readKept(hub, site);
  if (before?.uid === uid) {
    requireRise(before, serial);
    if (before.serial === serial && before.source === source) return before;
    if (before.serial === serial) requireUnseen(before);
  }
  if (before !== undefined) {
    if (before.sha256 !== undefined) await setAside(hub, site, before);
    await withdraw(place, before, hub.signal);
    const given = before.machines.filter((machine) => !machines.includes(machine));
    await releaseMachines(hub, site, given);
  }
  const kept: Kept = {
    serial,
    uid,
    source,
    ...(await make()),
    machines,
    iso: randomBytes(16).toString('hex'),
    sha256: undefined,
  };
  return writeKept(hub, site, kept, before?.resourceVersion);
}

function requireRise({ serial: before }: Kept, serial: number): void {
  if (before <= serial) return;
  throw new Failure('usage', 'the serial has to rise: no node takes a volume with a lower one', {
    expected: `spec.serial from ${before}`,
    found: `${serial}`,
  });
}

/** A node may have used it: it takes no other one with this serial. */
function requireUnseen({ serial, sha256: published }: Kept): void {
  if (published === undefined) return;
  throw new Failure('usage', 'the Site was changed after its volume was published', {
    expected: `what the serial ${serial} was published with`,
    fix: 'Raise spec.serial.',
  });
}

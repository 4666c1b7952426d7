import { randomBytes } from 'node:crypto';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { askedName } from '../../../lib/change/site/asked-name.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { createCredentials, volumeEncrypter } from '../../site/make-volume.ts';
import type { Site } from '../../site/read-site.ts';
import { claimMachines, machinesOf, releaseMachines } from './claims.ts';
import type { Hub } from './hub.ts';
import type { SiteInputs } from './inputs.ts';
import { type Kept, readKept, type StoredKept, setAside, writeKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { type Published, withdraw } from './publish.ts';
import { type NodesHub, reportAccess } from './report-access.ts';

/** A site, and what it was made of. */
export interface RenderedSite {
  readonly rendered: Site;
  readonly inputs: SiteInputs;
}

/** The administrator, the node's key for the hub and the names of this serial: those of the first run. */
export async function keepOnce(
  hub: Hub,
  site: HubSite,
  { rendered, inputs }: RenderedSite,
  { place, nodesHub }: { readonly place: Published; readonly nodesHub: NodesHub },
): Promise<StoredKept> {
  const { serial } = site.spec;
  const machines = machinesOf(site, rendered.config, inputs.facts);
  await claimMachines(hub, site, machines);
  const { uid = '' } = site.metadata;
  const source = sourceOf(site, rendered, inputs);
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
  const encrypter = volumeEncrypter({}, inputs.facts);
  if (site.spec.delivery?.by === 'url' && encrypter === undefined) throw forEverybody();
  const kept: Kept = {
    serial,
    uid,
    source,
    made: await createCredentials(rendered, encrypter),
    reportTo: encrypter === undefined ? undefined : await reportAccess(hub, site, nodesHub),
    machines,
    iso: randomBytes(16).toString('hex'),
    sha256: undefined,
    asked: site.spec.delivery?.by === 'url' ? askedNames(rendered, inputs) : [],
  };
  return writeKept(hub, site, kept, before?.resourceVersion);
}

/** A digest of all that makes a volume another one. */
const sourceOf = ({ spec }: HubSite, { files }: Site, inputs: SiteInputs): string =>
  sha256(
    JSON.stringify([
      spec.delivery?.by,
      inputs.facts?.recipient,
      [...files].map(([path, bytes]) => [path, sha256(bytes)]).toSorted(),
    ]),
  );

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

function askedNames({ config }: Site, { facts }: SiteInputs): string[] {
  const identifiers = [...config.hosts, ...(facts?.identifiers ?? [])];
  const names = identifiers.flatMap((each) => askedName(each.toLowerCase()) ?? []);
  if (names.length > 0) return [...new Set(names)];
  throw new Failure('usage', 'the volume is for a URL, and it is not known which node asks there', {
    expected: 'hosts in the template, or spec.hostFactsRef',
  });
}

/** The name of the file is that of the machine, which is on its label. */
const forEverybody = () =>
  new Failure('usage', 'a volume that is not encrypted cannot be delivered by a URL', {
    expected: 'spec.hostFactsRef: facts of the node that have its recipient',
    fix: 'Have the node sealed by its factory, or deliver it by virtualMedia or a person.',
  });

import { Failure } from '../../../lib/base/errors/failure.ts';
import { askedName } from '../../../lib/change/site/asked-name.ts';
import { REPORT_TO } from '../../../lib/engine/report/report-to.ts';
import { sha256, sha256OfFile } from '../../../lib/host/files.ts';
import { createCredentials, makeVolume, volumeEncrypter } from '../../site/make-volume.ts';
import type { Site } from '../../site/read-site.ts';
import { siteNotices } from '../../site/site-notices.ts';
import { writeMedium } from '../../site/write-medium.ts';
import { machinesOf } from './claims.ts';
import type { Hub } from './hub.ts';
import { gatherInputs, type SiteInputs } from './inputs.ts';
import { keepOnce } from './keep-once.ts';
import { isInstallation, type Kept, type StoredKept, writeKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { type By, type HubDelivery, type PreparedSite, requireDelivery } from './prepared.ts';
import { resetForSerial } from './progress.ts';
import { addressOf, publishAsked, publishIso } from './publish.ts';
import { renderSite } from './render.ts';
import { reportAccess } from './report-access.ts';
import { attach, requireHost } from './virtual-media.ts';

const DELIVERED: Readonly<Record<By, string>> = {
  virtualMedia: 'the volume is in the drive of the BareMetalHost, which is switched on',
  url: 'the node finds the volume at the URL of its factory',
  person: 'somebody has to bring the volume to the node',
};

const SILENT = 'the node cannot report, since its facts have no recipient to encrypt a key for';

/** A site, and what it was made of. */
interface RenderedSite {
  readonly rendered: Site;
  readonly inputs: SiteInputs;
  readonly now: Date;
}

/** A signed site volume, as `sno create site-volume` makes it, for a node that was built elsewhere. */
export async function prepareRelocation(
  hub: Hub,
  site: HubSite,
  delivery: HubDelivery,
): Promise<PreparedSite> {
  const { place } = delivery;
  const by = requireDelivery(site, place);
  const host = by === 'virtualMedia' ? await requireHost(hub, site) : undefined;
  const inputs = await gatherInputs(hub, site);
  const now = new Date();
  const rendered = await renderSite(inputs, site.spec.serial, { now, signal: hub.signal });
  const made = await keepVolume(hub, site, { rendered, inputs, now }, delivery);
  const kept = await publish(hub, site, made, { rendered, inputs, now }, delivery);
  const url = addressOf(place, kept);
  return {
    ...(kept.reportTo === undefined ? { note: SILENT } : {}),
    volume: {
      // Of a volume that anybody can read, the address is a secret.
      ...(url === undefined || kept.reportTo === undefined ? {} : { url }),
      sha256: kept.sha256 ?? '',
      ...(inputs.facts?.controlPlane === 'openshift' && { controlPlane: 'openshift' }),
    },
    reason: by,
    message: DELIVERED[by],
    async deliver() {
      if (host !== undefined && url !== undefined) await attach(hub, site, host, url);
    },
  };
}

/** The administrator, the node's key for the hub and the names of this serial: those of the first run. */
function keepVolume(
  hub: Hub,
  site: HubSite,
  { rendered, inputs }: RenderedSite,
  { place, nodesHub }: HubDelivery,
): Promise<StoredKept> {
  const by = site.spec.delivery?.by;
  const once = {
    source: sourceOf(site, rendered, inputs),
    machines: machinesOf(site, rendered.config, inputs.facts),
    make: async () => {
      const encrypter = volumeEncrypter({}, inputs.facts);
      if (by === 'url' && encrypter === undefined) throw forEverybody();
      return {
        made: await createCredentials(rendered, encrypter),
        reportTo: encrypter === undefined ? undefined : await reportAccess(hub, site, nodesHub),
        asked: by === 'url' ? askedNames(rendered, inputs) : [],
      };
    },
  };
  return keepOnce(hub, site, once, place);
}

async function publish(
  hub: Hub,
  site: HubSite,
  kept: StoredKept,
  { rendered, inputs, now }: RenderedSite,
  { place, sign, notice }: HubDelivery,
): Promise<StoredKept> {
  const { serial } = site.spec;
  const { made, reportTo } = kept;
  if (isInstallation(made)) throw new Failure('fatal', 'the Secret is that of an installation');
  await resetForSerial(hub, site);
  const write = async (path: string) => {
    const files = new Map(rendered.files);
    if (reportTo !== undefined) files.set(REPORT_TO, Buffer.from(reportTo));
    const protection = sign === undefined ? {} : { sign };
    const context = { facts: inputs.facts, now, signal: hub.signal };
    const volume = await makeVolume({ ...rendered, files }, protection, context, { made, serial });
    for (const text of siteNotices(rendered, volume.isEncrypted, now)) {
      notice(`${site.metadata.name}: ${text}`);
    }
    await writeMedium({ kind: 'iso', path }, volume.files, hub.signal, async () => {});
  };
  const digestOf = (path: string) => sha256OfFile(path, hub.signal);
  const keep = (digest: string) =>
    writeKept(hub, site, { ...kept, sha256: digest }, kept.resourceVersion);
  const published = await publishIso(place, kept, { write, digestOf, keep });
  await publishAsked(place, published);
  return published;
}

/** A digest of all that makes a volume another one. */
const sourceOf = ({ spec }: HubSite, { files }: Site, inputs: SiteInputs): Kept['source'] =>
  sha256(
    JSON.stringify([
      spec.delivery?.by,
      inputs.facts?.recipient,
      [...files].map(([path, bytes]) => [path, sha256(bytes)]).toSorted(),
    ]),
  );

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

import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { REPORT_TO } from '../../../lib/engine/report/report-to.ts';
import type { SiteCondition } from '../../../lib/engine/report/site-status.ts';
import { makeVolume } from '../../site/make-volume.ts';
import { siteNotices } from '../../site/site-notices.ts';
import type { Surroundings } from '../../surroundings.ts';
import type { Hub } from './hub.ts';
import { gatherInputs } from './inputs.ts';
import { keepOnce, type RenderedSite } from './keep-once.ts';
import { type Kept, type StoredKept, writeKept } from './kept.ts';
import type { HubSite } from './kinds.ts';
import { SiteProgress } from './progress.ts';
import { addressOf, type Published, publishAsked, publishIso } from './publish.ts';
import { renderSite } from './render.ts';
import type { NodesHub } from './report-access.ts';
import { attach, requireHost } from './virtual-media.ts';

/** How a run delivers. */
export interface HubDelivery extends Pick<Surroundings, 'print' | 'notice'> {
  readonly place: Published;
  readonly nodesHub: NodesHub;
  /** The SSH key that signs volumes; undefined: none. */
  readonly sign: string | undefined;
}

type By = NonNullable<HubSite['spec']['delivery']>['by'];

const DELIVERED: Readonly<Record<By, string>> = {
  virtualMedia: 'the volume is in the drive of the BareMetalHost, which is switched on',
  url: 'the node finds the volume at the URL of its factory',
  person: 'somebody has to bring the volume to the node',
};

/**
 * Takes a Site as far as its node can go on alone. Whatever ended an earlier run, this one takes it up: what is made once
 * is in a Secret before anybody else has it.
 *
 * @throws Failure (usage) if the Site cannot be: its conditions say so, too; others if it can be tried again
 */
export async function deliverSite(hub: Hub, site: HubSite, delivery: HubDelivery): Promise<void> {
  const { metadata, spec } = site;
  const progress = new SiteProgress(hub, site);
  const say = (text: string) => delivery.print(`${metadata.name}: ${text}`);
  const { kept, how } = await judged(progress, 'Rendered', async () => {
    const by = requireRelocation(site);
    const host = by === 'virtualMedia' ? await requireHost(hub, site) : undefined;
    requireAddress(by, delivery.place);
    const inputs = await gatherInputs(hub, site);
    const now = new Date();
    const rendered = await renderSite(inputs, spec.serial, { now, signal: hub.signal });
    const made = await keepOnce(hub, site, { rendered, inputs }, delivery);
    const volume = { rendered, inputs, now };
    return { kept: await publish(hub, site, made, volume, delivery), how: { by, host } };
  });
  const url = addressOf(delivery.place, kept);
  const message = `serial ${spec.serial}${kept.reportTo === undefined ? `; ${SILENT}` : ''}`;
  await progress.say(condition('Rendered', 'Published', message), {
    // Of a volume that anybody can read, the address is a secret.
    ...(url === undefined || kept.reportTo === undefined ? {} : { url }),
    sha256: kept.sha256 ?? '',
    serial: spec.serial,
    publishedAt: publishedAt(site, kept),
  });
  say(`rendered and published, ${message}`);
  await judged(progress, 'Delivered', async () => {
    if (how.host !== undefined && url !== undefined) await attach(hub, site, how.host, url);
  });
  await progress.say(condition('Delivered', how.by, DELIVERED[how.by]));
  say(`delivered: ${DELIVERED[how.by]}`);
}

const SILENT = 'the node cannot report, since its facts have no recipient to encrypt a key for';

const condition = (type: SiteCondition['type'], reason: string, message: string) =>
  ({ type, status: 'True', reason, message }) as const;

/** As before, if that was the same volume. */
const publishedAt = ({ status, spec }: HubSite, { sha256 }: Kept): string =>
  status?.volume?.serial === spec.serial && status.volume.sha256 === sha256
    ? status.volume.publishedAt
    : new Date().toISOString();

/** A fault of the Site is in its condition, in a line. */
async function judged<T>(
  progress: SiteProgress,
  type: 'Rendered' | 'Delivered',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'usage' || error.kind === 'fatal')) {
      const message = describeError(error);
      await progress.say({ type, status: 'False', reason: error.code, message });
    }
    throw error;
  }
}

/** How it is delivered. @throws Failure (usage) */
function requireRelocation({ spec: { action, delivery } }: HubSite): By {
  if (action === 'install') {
    throw new Failure('usage', 'sno fleet site does not install', {
      found: 'spec.action install',
      fix: 'Create the medium with "sno create single-node-iso".',
    });
  }
  if (action === 'update') {
    throw new Failure('usage', 'sno fleet site does not update', {
      found: 'spec.action update',
      fix: 'Create the update with "sno create update", and have the host take it with "sno-update".',
    });
  }
  if (delivery !== undefined) return delivery.by;
  throw new Failure('usage', 'spec.delivery is missing', {
    expected: 'by: virtualMedia, url or person',
  });
}

function requireAddress(by: By, { url }: Published): void {
  if (by !== 'virtualMedia' || url !== undefined) return;
  throw new Failure('usage', 'the volume is for virtual media, and has no address', {
    fix: 'Set --publish-url: the address at which a BMC finds the folder of --publish.',
  });
}

async function publish(
  hub: Hub,
  site: HubSite,
  kept: StoredKept,
  { rendered, inputs, now }: RenderedSite & { readonly now: Date },
  { place, sign, notice }: HubDelivery,
): Promise<StoredKept> {
  const { serial } = site.spec;
  const changes = site.status?.report?.changes ?? [];
  const hasReported = changes.some((each) => each.change === 'relocate' && each.serial === serial);
  if (site.status?.volume?.serial !== serial && !hasReported) {
    await new SiteProgress(hub, site).resetNode();
  }
  const make = async () => {
    const files = new Map(rendered.files);
    if (kept.reportTo !== undefined) files.set(REPORT_TO, Buffer.from(kept.reportTo));
    const protection = sign === undefined ? {} : { sign };
    const context = { facts: inputs.facts, now, signal: hub.signal };
    const volume = await makeVolume({ ...rendered, files }, protection, context, {
      made: kept.made,
      serial,
    });
    for (const text of siteNotices(rendered, volume.isEncrypted, now)) {
      notice(`${site.metadata.name}: ${text}`);
    }
    return volume.files;
  };
  const keep = (sha256: string) => writeKept(hub, site, { ...kept, sha256 }, kept.resourceVersion);
  const published = await publishIso(place, kept, { make, keep, signal: hub.signal });
  await publishAsked(place, published);
  return published;
}

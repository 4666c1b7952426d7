import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { SiteCondition } from '../../../lib/engine/report/site-status.ts';
import type { SiteSpec } from '../site.ts';
import { firstSerial } from './first-serial.ts';
import type { Hub } from './hub.ts';
import { prepareInstallation } from './installation.ts';
import type { HubSite } from './kinds.ts';
import type { HubDelivery, Prepare, PreparedSite } from './prepared.ts';
import { SiteProgress } from './progress.ts';
import { prepareRelocation } from './relocation.ts';
import { prepareUpdate } from './update.ts';

const PREPARE: Readonly<Record<Exclude<SiteSpec['action'], 'none'>, Prepare>> = {
  relocate: prepareRelocation,
  install: prepareInstallation,
  update: prepareUpdate,
};

/**
 * Takes a Site as far as its node can go on alone. Whatever ended an earlier run, this one takes it up: what is made once
 * is in a Secret before anybody else has it.
 *
 * @throws Failure (usage) if the Site cannot be: its conditions say so, too; others if it can be tried again
 */
export async function deliverSite(hub: Hub, given: HubSite, delivery: HubDelivery): Promise<void> {
  const site = await numberedSite(hub, given);
  const { metadata, spec } = site;
  if (spec.action === 'none') return;
  const prepare = PREPARE[spec.action];
  const progress = new SiteProgress(hub, site);
  const say = (text: string) => delivery.print(`${metadata.name}: ${text}`);
  const prepared = await judged(progress, 'Rendered', async () => {
    requireOwnSerial(site);
    return prepare(hub, site, delivery);
  });
  const { note, volume, reason } = prepared;
  const message = `serial ${spec.serial}${note === undefined ? '' : `; ${note}`}`;
  await progress.say(condition('Rendered', 'Published', message), {
    ...volume,
    serial: spec.serial,
    action: spec.action,
    publishedAt: publishedAt(site, volume),
  });
  say(`rendered and published, ${message}`);
  await judged(progress, 'Delivered', () => prepared.deliver());
  await progress.say(condition('Delivered', reason, prepared.message));
  say(`delivered: ${prepared.message}`);
}

/** One that nobody has numbered gets a serial that its node takes. */
const numberedSite = async (hub: Hub, site: HubSite): Promise<HubSite> =>
  site.spec.serial > 0
    ? site
    : judged(new SiteProgress(hub, site), 'Rendered', async () => {
        const serial = await firstSerial(hub, site);
        return { ...site, spec: { ...site.spec, serial } };
      });

/** Another action is another run. */
function requireOwnSerial({ spec, status }: HubSite): void {
  const { serial, action = spec.action } = status?.volume ?? {};
  if (serial !== spec.serial || action === spec.action) return;
  throw new Failure('usage', `the serial ${serial} was that of the action ${action}`, {
    expected: `a higher spec.serial for the action ${spec.action}`,
  });
}

const condition = (type: SiteCondition['type'], reason: string, message: string) =>
  ({ type, status: 'True', reason, message }) as const;

/** As before, if that was the same volume. */
const publishedAt = ({ status, spec }: HubSite, { sha256 }: PreparedSite['volume']): string =>
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

import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { readOwnExpiry, writeExpiry } from '../../lib/cluster/deferred/expiry.ts';
import { completedAt } from '../../lib/cluster/installation/record.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';

const hoursMs = (hours: number) => hours * 3_600_000;

/**
 * When deferred manifests expire: by wall clock from the end of the installation, since a host
 * may be switched off for days; or as set later.
 * @throws Failure `usage` if the installation has not ended.
 */
export async function readExpiry(paths: HostPaths, settings: Settings): Promise<Date> {
  const own = await readOwnExpiry(paths);
  if (own !== undefined) return own;
  const completed = await completedAt(paths);
  if (completed === undefined) {
    throw new Failure('usage', 'the installation has not ended', {
      expected: paths.record,
      fix: 'Wait for bootkube.service.',
    });
  }
  return new Date(completed.getTime() + hoursMs(settings.deferredExpiryHours));
}

/** Sets the expiry to that many hours from now, also for later runs. */
export async function setExpiry(
  paths: HostPaths,
  settings: Settings,
  hours: unknown,
): Promise<void> {
  const most = settings.deferredExpiryHours;
  const parsed = z.coerce.number().positive().max(most).safeParse(hours);
  if (!parsed.success) {
    throw new Failure('usage', '--expires-in-hours is invalid', {
      expected: `more than 0 and at most ${most}, the deferredExpiryHours of settings.json`,
      found: String(hours),
    });
  }
  await writeExpiry(paths, new Date(Date.now() + hoursMs(parsed.data)));
}

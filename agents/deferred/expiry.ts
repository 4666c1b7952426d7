import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/errors/failure.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Settings } from '../../lib/host/settings.ts';
import { recordSchema } from '../../lib/installation/record.ts';
import { deferredState } from './paths.ts';

const expirySchema = z.object({ expires: z.iso.datetime() });

const hoursMs = (hours: number) => hours * 3_600_000;
const expiryPath = (paths: HostPaths) => join(deferredState(paths), 'expiry.json');

/**
 * When deferred manifests expire: by wall clock from the end of the installation, since a host
 * may be switched off for days; or as set later.
 * @throws Failure `usage` if the installation has not ended.
 */
export async function readExpiry(paths: HostPaths, settings: Settings): Promise<Date> {
  const own = await readTextIfPresent(expiryPath(paths));
  if (own !== undefined) return new Date(expirySchema.parse(JSON.parse(own)).expires);
  const record = await readTextIfPresent(paths.record);
  if (record === undefined) {
    throw new Failure('usage', 'the installation has not ended', {
      expected: paths.record,
      fix: 'Wait for bootkube.service.',
    });
  }
  const { completed } = recordSchema.pick({ completed: true }).parse(JSON.parse(record));
  return new Date(Date.parse(completed) + hoursMs(settings.deferredExpiryHours));
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
  const expires = new Date(Date.now() + hoursMs(parsed.data)).toISOString();
  await writeFileAtomic(expiryPath(paths), `${JSON.stringify({ expires })}\n`, 0o644);
}

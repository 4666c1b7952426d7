import type { UsedVolume } from '../../change/site/used-volume.ts';
import { isAmong } from '../../config/site-config/judge.ts';
import type { VolumeManifest } from './manifest.ts';
import { refused } from './refused.ts';
import type { VolumeRules } from './volume.ts';

const ANOTHER = 'Nothing was changed. Use the volume that was made for this node.';
const NEWER = 'Nothing was changed. Create a new volume: its serial is higher.';

/**
 * The time by which a volume and its certificates are judged: a host that was switched off for long may have an early
 * clock, but it is not earlier than when the volume was made.
 */
export const judgingTime = ({ createdAt }: VolumeManifest, now: Date): Date =>
  new Date(Math.max(now.getTime(), new Date(createdAt).getTime()));

/**
 * Whether a volume is for this node, and now. Returns whether the node knows it.
 *
 * @throws Failure (usage, `site-volume-refused`) if it is not
 */
export function requireUsable(
  manifest: VolumeManifest,
  use: UsedVolume,
  { facts, used, now }: VolumeRules,
): boolean {
  const { hosts, validUntil } = manifest;
  if (facts !== undefined && !isAmong(hosts, facts.identifiers)) {
    throw refused('the volume is for another node', {
      expected: `one of ${facts.identifiers.join(', ')} in its hosts`,
      found: hosts.slice(0, 5).join(', '),
      fix: ANOTHER,
    });
  }
  if (validUntil !== undefined && new Date(validUntil) < now) {
    throw refused('the volume has expired', {
      expected: `validUntil after ${now.toISOString()}`,
      found: validUntil,
      fix: NEWER,
    });
  }
  const newest = used.toSorted((a, b) => b.serial - a.serial)[0];
  if (newest === undefined || use.serial > newest.serial) return false;
  if (use.serial === newest.serial && use.sha256 === newest.sha256) return true;
  throw refused('the volume was used before, or an earlier one', {
    expected: `a serial above ${newest.serial}`,
    found: `${use.serial}`,
    fix: NEWER,
  });
}

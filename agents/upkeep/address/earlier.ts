import { isHeld } from '../../../lib/change/identity/held.ts';
import { type IdentityRequest, identityChange } from '../../../lib/change/identity/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { startUnit, stopUnit } from '../../../lib/host/systemd.ts';

export const IDENTITY_UNIT = 'sno-identity.service';

/**
 * Gives up an earlier change to an address that the host has lost since: it could never end. While the change holds the
 * control plane back, it continues over loopback and is given up afterwards. A change that a person requested is
 * left to that person. Returns whether it is given up.
 */
export async function isWithdrawn(
  paths: HostPaths,
  { isFollowing, backup }: IdentityRequest,
  signal: AbortSignal,
): Promise<boolean> {
  if (isFollowing !== true || backup !== undefined || (await isHeld(paths))) return false;
  await stopUnit(IDENTITY_UNIT, signal);
  if (await isHeld(paths)) {
    await startUnit(IDENTITY_UNIT, signal);
    return false;
  }
  await identityChange.remove(paths);
  return true;
}

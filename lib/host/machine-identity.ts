import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';
import { isPlaceholder } from './placeholders.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * What distinguishes this machine from another one with the same disk contents: `dmi:UUID`, by the
 * firmware. `machine-id:ID` if it has none: that is created at the first boot, so it differs between
 * installations, but not between copies of one.
 */
export async function machineIdentity(paths: Pick<HostPaths, 'at'>): Promise<string> {
  const uuid = await firmwareUuid(paths);
  if (uuid !== undefined && !isPlaceholder(uuid)) return `dmi:${uuid}`;
  return `machine-id:${(await readTextIfPresent(paths.at('/etc/machine-id')))?.trim() ?? ''}`;
}

/**
 * Whether this is the machine of an identity that was recorded. An earlier version may have recorded a UUID that is known
 * to be on many machines by now: it is still that of this one.
 */
export async function isThisMachine(
  paths: Pick<HostPaths, 'at'>,
  recorded: string | undefined,
): Promise<boolean> {
  if (recorded === (await machineIdentity(paths))) return true;
  const uuid = await firmwareUuid(paths);
  return uuid !== undefined && recorded === `dmi:${uuid}`;
}

async function firmwareUuid({ at }: Pick<HostPaths, 'at'>): Promise<string | undefined> {
  const text = await readTextIfPresent(at('/sys/class/dmi/id/product_uuid'));
  const uuid = text?.trim().toLowerCase() ?? '';
  return UUID.test(uuid) ? uuid : undefined;
}

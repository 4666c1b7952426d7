import { readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Values of boards whose vendor set none: they are the same on many machines. */
const PLACEHOLDERS = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '03000200-0400-0500-0006-000700080009',
];

/**
 * What distinguishes this machine from another one with the same disk contents: `dmi:UUID`, by the
 * firmware. `machine-id:ID` if it has none: that is created at the first boot, so it differs between
 * installations, but not between copies of one.
 */
export async function machineIdentity({ at }: Pick<HostPaths, 'at'>): Promise<string> {
  const text = await readTextIfPresent(at('/sys/class/dmi/id/product_uuid'));
  const uuid = text?.trim().toLowerCase() ?? '';
  if (UUID.test(uuid) && !PLACEHOLDERS.includes(uuid)) return `dmi:${uuid}`;
  return `machine-id:${(await readTextIfPresent(at('/etc/machine-id')))?.trim() ?? ''}`;
}

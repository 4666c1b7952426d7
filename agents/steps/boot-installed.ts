import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import {
  alreadyInstalled,
  type FinishedInstallation,
} from '../../lib/cluster/installation/inspect.ts';
import { findMarker, writeMarker } from '../../lib/cluster/installation/marker.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { type Outcome, reboot } from '../../lib/engine/steps/step.ts';
import { firmwareOf, setBootOrder } from '../../lib/host/boot-order/set-boot-order.ts';
import { type BlockDevice, partition, readDisk } from '../../lib/host/disk.ts';
import { withMounted } from '../../lib/host/mount.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { InstallContext } from './host-context.ts';

/**
 * The live medium was booted again over a finished installation: the disk is put first in the
 * boot order and the host reboots into it. This happens once: firmware that still boots the
 * medium would cause an endless loop. It is recorded by a marker on the disk, the only place that
 * survives a reboot; if the marker cannot be written, there is no reboot. If the boot order
 * cannot be set, nothing is changed and the agent fails permanently.
 */
export async function bootInstalled(
  { cluster, paths }: InstallContext,
  finding: FinishedInstallation,
  progress: Progress,
): Promise<Outcome> {
  const { disk: device } = cluster.installation;
  const firmware = await firmwareOf(paths);
  if (firmware === 'none') throw alreadyInstalled(device, finding);
  if (finding.bootOrderSetAt !== undefined) {
    throw new Failure('fatal', `${device} holds a finished installation of this cluster`, {
      code: 'disk-installed',
      expected: `the disk to boot, which became first in the boot order at ${finding.bootOrderSetAt}`,
      found: 'the live medium booted again',
      fix: 'Remove the live medium, or put the disk first in the firmware setup, and restart the host.',
    });
  }
  try {
    const disk = await readDisk(device, paths, progress.signal);
    progress.say(await setBootOrder(disk, firmware, paths, progress.signal));
    await markBootOrder(disk, cluster.clusterId, paths, progress.signal);
  } catch (error) {
    progress.signal.throwIfAborted();
    progress.warn(`The host cannot be restarted into its disk: ${describeError(error)}`);
    throw alreadyInstalled(device, finding);
  }
  return reboot(`${device} holds a finished installation, and is now first in the boot order`);
}

async function markBootOrder(
  disk: BlockDevice,
  clusterId: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<void> {
  const root = partition(disk, 'root');
  if (root === undefined) throw new Failure('fatal', `${disk.path} has no partition named root`);
  const { path: device, fstype } = root;
  const request = { device, fstype, writable: true, runFolder: paths.run, signal };
  await withMounted(request, async (folder) => {
    const placed = await findMarker(folder, clusterId);
    if (placed === undefined)
      throw new Failure('fatal', `the marker on ${device} no longer exists`);
    const bootOrderSetAt = new Date().toISOString();
    await writeMarker(placed.folder, { ...placed.marker, bootOrderSetAt });
  });
}

import { join } from 'node:path';
import { inspectAgain } from '../../lib/cluster/installation/inspect.ts';
import type { Installation } from '../../lib/config/cluster/cluster.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import type { BlockNode } from '../../lib/host/block-device.ts';
import { findDisk, partition, readDisk } from '../../lib/host/disk.ts';
import { readTextIfPresent, sha256 } from '../../lib/host/files.ts';
import { withMounted } from '../../lib/host/mount.ts';
import { runTransientUnit } from '../../lib/host/transient-unit.ts';
import type { InstallContext } from '../steps/host-context.ts';

/**
 * Writes the OS image with coreos-installer, which writes the partition table last: after an
 * interruption the disk looks empty.
 */
export const writeDisk: StepBody<InstallContext> = {
  name: 'write-disk',
  leaves: 'the operating system on the disk, with the combined Ignition on its boot partition',
  touches: ['disk', 'systemd'],
  retries: true,
  input: async ({ cluster, paths }) => [
    cluster.installation,
    sha256((await readTextIfPresent(paths.masterIgnition)) ?? ''),
  ],
  async holds({ cluster, paths }, { signal }) {
    const disk = await readDisk(cluster.installation.disk, paths, signal);
    const partitionOfBoot = partition(disk, 'boot');
    if (partitionOfBoot === undefined) return false;
    const { path: device, fstype } = partitionOfBoot;
    const written = await withMounted(
      { device, fstype, writable: false, runFolder: paths.run, signal },
      (boot) => readTextIfPresent(join(boot, 'ignition/config.ign')),
    );
    return written !== undefined && written === (await readTextIfPresent(paths.masterIgnition));
  },
  async run({ cluster, paths }, progress) {
    const { disk } = cluster.installation;
    const { node } = await findDisk(disk, paths, progress.signal);
    const multipath = multipathArguments(node, cluster.installation);
    if (multipath.length > 0) {
      progress.say(
        `${disk} is a multipath device: adds the kernel arguments ${multipath.join(' ')}`,
      );
    }
    await progress.wait(`coreos-installer to write ${disk}`, () =>
      runTransientUnit({
        name: 'sno-coreos-installer',
        description: `Write the operating system to ${disk}`,
        argv: [
          'coreos-installer',
          'install',
          '--copy-network',
          '--ignition-file',
          paths.masterIgnition,
          ...installerArguments(cluster.installation),
          ...multipath.map((argument) => `--append-karg=${argument}`),
          disk,
        ],
        runFolder: paths.run,
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
        beforeStart: () => inspectAgain(cluster, paths, progress.signal),
        onLine: everyTenth(progress),
      }),
    );
    return done();
  },
};

/**
 * What CoreOS needs to find its root on a multipath device (its documentation, "Installing on multipath"); without
 * it, it boots from one path. Empty for other disks, and where a person has set any of them.
 */
export function multipathArguments(
  { mapper }: Pick<BlockNode, 'mapper'>,
  { kernelArguments, coreosInstallerArgs }: Installation,
): string[] {
  if (mapper?.uuid.startsWith('mpath-') !== true) return [];
  if (/\brd\.multipath=/.test([...kernelArguments, ...coreosInstallerArgs].join(' '))) return [];
  return ['rd.multipath=default', 'root=/dev/disk/by-label/dm-mpath-root', 'rw'];
}

/** Option and value in one argument: a range of partitions can begin with a hyphen. */
export function installerArguments(installation: Installation): string[] {
  const { kernelArguments, savePartitions, coreosInstallerArgs } = installation;
  return [
    ...kernelArguments.map((argument) => `--append-karg=${argument}`),
    ...savePartitions.labels.map((label) => `--save-partlabel=${label}`),
    ...savePartitions.indexes.map((index) => `--save-partindex=${index}`),
    ...coreosInstallerArgs,
  ];
}

/** Passes on coreos-installer's output, but only one in ten of its many percentages. */
function everyTenth(progress: Progress): (line: string) => void {
  let announced: number | undefined;
  return (line) => {
    const percent = /\((\d+)%\)/.exec(line)?.[1];
    if (percent === undefined) return progress.say(`coreos-installer: ${line}`);
    const tenth = Math.floor(Number(percent) / 10);
    if (tenth === announced) return;
    announced = tenth;
    progress.waitingFor(`coreos-installer: ${percent}% written`);
  };
}

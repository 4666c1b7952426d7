import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import { quickly } from './command.ts';
import { type DataDisk, mountDataDisk } from './data-disk.ts';
import { attachPartition, type Disk, growRootPartition } from './disk.ts';
import { type Host, type HostOptions, hostOf } from './host.ts';
import { runIgnition } from './ignition.ts';
import { Machine } from './machine.ts';
import { mount } from './mount.ts';
import { plugIn } from './network.ts';
import { cutPower } from './power-cut.ts';
import { cgroupPrefix } from './run-folder.ts';
import { Teardown } from './teardown.ts';

export interface DiskHostOptions extends HostOptions {
  readonly disk: Disk;
  /** Folder with the contents of a medium, read-only at /run/media/iso: its mount unit finds it mounted. */
  readonly medium?: string | undefined;
  /** What has been left in the drive of a machine. */
  readonly iso?: string | undefined;
  readonly dataDisk?: DataDisk | undefined;
}

/** Boots from the disk. Before the first boot, Ignition runs as in an initramfs. */
export async function bootDiskHost(options: DiskHostOptions, signal: AbortSignal): Promise<Host> {
  const { identity, logs, label, disk, medium, dataDisk } = options;
  const folder = join(options.folder, label);
  const rootDir = join(folder, 'root');
  const bootDir = join(folder, 'boot');
  await mkdir(folder, { recursive: true });
  await mkdir(logs, { recursive: true });
  const teardown = new Teardown();
  teardown.add(`remove ${folder}`, () => rm(folder, { recursive: true }));
  try {
    const bootDevice = await attachPartition(disk, 'boot', false, teardown, signal);
    await mount(bootDevice, bootDir, { type: 'ext4' }, teardown, signal);
    const isFirstBoot = await exists(join(bootDir, 'ignition.firstboot'));
    if (isFirstBoot) await growRootPartition(disk, signal);
    const rootDevice = await attachPartition(disk, 'root', false, teardown, signal);
    // Offline, unlike CoreOS: growing online requires CAP_SYS_RESOURCE, which not every lab has.
    if (isFirstBoot) await growFileSystem(rootDevice, signal);
    await mount(rootDevice, rootDir, { type: 'ext4' }, teardown, signal);
    if (isFirstBoot) {
      await applyFirstBootConfig({ rootDir, bootDir, folder, logs, label }, signal);
    }
    if (dataDisk !== undefined) await mountDataDisk(dataDisk, rootDir, teardown, signal);
    await mount(bootDir, join(rootDir, 'boot'), { options: ['bind'] }, teardown, signal);
    const network = await plugIn(identity, teardown, signal);
    const machine = await Machine.boot(
      {
        id: `${cgroupPrefix(options.folder)}${label}`,
        name: identity.name,
        root: rootDir,
        network,
        // cAdvisor, in the kubelet, inspects the device of /.
        binds: [
          { source: rootDevice, target: rootDevice },
          ...(medium === undefined
            ? []
            : [{ source: medium, target: '/run/media/iso', readOnly: true }]),
        ],
        consoleLog: join(logs, `${label}-console.log`),
        journalLog: join(logs, `${label}-journal.log`),
      },
      teardown,
      signal,
    );
    const onDisk = [join(rootDir, 'etc/passwd'), join(bootDir, 'loader/entries/lab.conf')];
    return hostOf(machine, options, teardown, () => cutPower(onDisk));
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

async function growFileSystem(device: string, signal: AbortSignal): Promise<void> {
  await quickly('e2fsck', ['-f', '-p', device], signal);
  await quickly('resize2fs', [device], signal);
}

interface FirstBoot {
  readonly rootDir: string;
  readonly bootDir: string;
  readonly folder: string;
  readonly logs: string;
  readonly label: string;
}

/**
 * Runs Ignition with the config left by coreos-installer, then removes the config and its flag,
 * as CoreOS does. Network profiles are copied to the system, as the initramfs does.
 */
async function applyFirstBootConfig(
  { rootDir, bootDir, folder, logs, label }: FirstBoot,
  signal: AbortSignal,
): Promise<void> {
  const config = join(bootDir, 'ignition/config.ign');
  if (await exists(config)) {
    await runIgnition(
      {
        config,
        root: rootDir,
        work: join(folder, 'ignition'),
        log: join(logs, `${label}-ignition.log`),
      },
      signal,
    );
  }
  const initramfs = join(bootDir, 'initramfs.img');
  if ((await stat(initramfs)).size > 0) {
    const unwrap = ['pxe', 'network', 'unwrap', initramfs, '--directory'];
    const profiles = join(rootDir, 'etc/NetworkManager/system-connections');
    // The program itself: the script of this name in /usr/bin works inside the host only.
    await quickly(join(rootDir, 'usr/libexec/coreos-installer'), [...unwrap, profiles], signal);
    // NetworkManager ignores profiles with other modes.
    for (const name of await readdir(profiles)) await chmod(join(profiles, name), 0o600);
  }
  await rm(join(bootDir, 'ignition'), { recursive: true, force: true });
  await rm(join(bootDir, 'ignition.firstboot'));
}

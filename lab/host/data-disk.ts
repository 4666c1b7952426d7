import { join } from 'node:path';
import { quickly } from './command.ts';
import { createDisk } from './disk.ts';
import { attachLoopDevice, detachLoopDevice } from './loop.ts';
import { mount, teardownSignal } from './mount.ts';
import type { Teardown } from './teardown.ts';

const BYTES = 1024 ** 3;

/** A second disk of a host: one file system, which the host mounts before its units start. */
export interface DataDisk {
  readonly file: string;
  /** Path on the host. */
  readonly mountPoint: string;
}

export async function createDataDisk(disk: DataDisk, signal: AbortSignal): Promise<DataDisk> {
  await createDisk(disk.file, BYTES);
  await quickly('mke2fs', ['-q', '-F', '-t', 'ext4', disk.file], signal);
  return disk;
}

/** As an entry of the host's fstab does. */
export async function mountDataDisk(
  { file, mountPoint }: DataDisk,
  rootDir: string,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<void> {
  const device = await attachLoopDevice(file, {}, signal);
  teardown.add(`detach ${device}`, () => detachLoopDevice(device, teardownSignal()));
  await mount(device, join(rootDir, mountPoint), { type: 'ext4' }, teardown, signal);
}

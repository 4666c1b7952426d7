import { z } from 'zod';
import { quickly } from './command.ts';

const listing = z.object({
  loopdevices: z.array(z.object({ name: z.string(), 'back-file': z.string().nullable() })),
});

export interface LoopOptions {
  /** Window into the file; the whole file when left out. */
  readonly window?: { readonly offset: number; readonly bytes: number };
  readonly readOnly?: boolean;
  /** Lets the kernel look for a partition table, without which coreos-installer refuses the device. */
  readonly partitioned?: boolean;
}

/** Attaches a file to a free loop device and returns its path, such as `/dev/loop3`. */
export async function attachLoopDevice(
  file: string,
  { window, readOnly = false, partitioned = false }: LoopOptions,
  signal: AbortSignal,
): Promise<string> {
  const limits =
    window === undefined ? [] : ['--offset', `${window.offset}`, '--sizelimit', `${window.bytes}`];
  const flags = [...(readOnly ? ['--read-only'] : []), ...(partitioned ? ['--partscan'] : [])];
  const args = ['--find', '--show', ...flags, ...limits, file];
  const device = (await quickly('losetup', args, signal)).trim();
  // Without a second page cache writing is five times as fast; not every file system can.
  await quickly('losetup', ['--direct-io=on', device], signal).catch(() => undefined);
  return device;
}

/** Detaches a device; partitions announced to the kernel by hand go first. */
export async function detachLoopDevice(device: string, signal: AbortSignal): Promise<void> {
  // Fails where nothing was announced, which is the common case.
  await quickly('partx', ['-d', device], signal).catch(() => undefined);
  await quickly('losetup', ['--detach', device], signal);
}

/** Detaches every loop device whose file is below `folder`. */
export async function detachLoopDevicesBelow(folder: string, signal: AbortSignal): Promise<void> {
  const output = await quickly('losetup', ['--json', '--list', '-O', 'NAME,BACK-FILE'], signal);
  if (output.trim() === '') return;
  for (const device of listing.parse(JSON.parse(output)).loopdevices) {
    if (device['back-file']?.startsWith(`${folder}/`)) await detachLoopDevice(device.name, signal);
  }
}

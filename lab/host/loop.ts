import { z } from 'zod';
import { quickly } from './command.ts';

const listing = z.object({
  loopdevices: z.array(z.object({ name: z.string(), 'back-file': z.string().nullable() })),
});

export interface LoopOptions {
  /** Part of the file. Default: the whole file. */
  readonly window?: { readonly offset: number; readonly bytes: number };
  readonly readOnly?: boolean;
  /** Makes the kernel scan for partitions; otherwise coreos-installer refuses the device. */
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
  // Without a second page cache, writes are five times as fast; some file systems do not support it.
  await quickly('losetup', ['--direct-io=on', device], signal).catch(() => undefined);
  return device;
}

/** Detaches a device, after removing partitions that were announced to the kernel manually. */
export async function detachLoopDevice(device: string, signal: AbortSignal): Promise<void> {
  // Usually fails, since nothing was announced.
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

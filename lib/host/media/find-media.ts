import { z } from 'zod';
import { run } from '../command.ts';
import { readTextIfPresent } from '../files.ts';
import type { HostPaths } from '../paths.ts';

/** A file system with one of the labels that are looked for. */
export interface Medium {
  /** Such as `/dev/sdb1`. */
  readonly device: string;
  /** As blkid calls it. */
  readonly fileSystem: string;
  readonly label: string;
  /**
   * The kernel's number of what is in the drive (`diskseq` in sysfs): another one after it was taken out and put in
   * again.
   */
  readonly inserted: string;
  /** Such as a CD, or a stick with a switch. */
  readonly isReadOnly: boolean;
}

const deviceSchema = z.object({
  path: z.string().startsWith('/dev/'),
  kname: z.string().regex(/^[\w!-]+$/),
  pkname: z.string().nullable(),
  fstype: z.string().nullable(),
  label: z.string().nullable(),
  ro: z.boolean().default(false),
});
const lsblkSchema = z.object({ blockdevices: z.array(deviceSchema) });
const COLUMNS = Object.keys(deviceSchema.shape).join(',').toUpperCase();
const SETTLE_MS = 30_000;

/**
 * All media with one of these labels, in any case: whole devices and partitions. A device whose partition shows the
 * same file system again counts once.
 */
export async function findMedia(
  paths: HostPaths,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Medium[]> {
  const limits = { signal, deadlineMs: SETTLE_MS };
  await run('udevadm', ['settle', '--timeout=20'], limits);
  const text = await run('lsblk', ['--json', '--list', `--output=${COLUMNS}`], limits);
  const devices = lsblkSchema.parse(JSON.parse(text)).blockdevices;
  const found = devices.filter(
    ({ label, fstype }) =>
      label !== null && fstype !== null && labels.includes(label.toLowerCase()),
  );
  const names = new Set(found.map(({ kname }) => kname));
  const media = found.filter(({ pkname }) => pkname === null || !names.has(pkname));
  return Promise.all(
    media.map(async ({ path, kname, pkname, fstype, label, ro }) => ({
      device: path,
      fileSystem: fstype ?? '',
      label: label ?? '',
      inserted: await insertion(paths, pkname ?? kname),
      isReadOnly: ro,
    })),
  );
}

async function insertion(paths: HostPaths, disk: string): Promise<string> {
  const number = await readTextIfPresent(paths.at(`/sys/class/block/${disk}/diskseq`));
  return `${disk} ${number?.trim() ?? ''}`;
}

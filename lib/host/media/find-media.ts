import { z } from 'zod';
import { run } from '../command.ts';
import { readTextIfPresent } from '../files.ts';
import type { HostPaths } from '../paths.ts';

/** A file system on a medium. */
export interface Medium {
  /** Such as `/dev/sdb1`. */
  readonly device: string;
  /** As blkid calls it. */
  readonly fileSystem: string;
  /** Empty: it has none. */
  readonly label: string;
  /**
   * The kernel's number of what is in the drive (`diskseq` in sysfs): another one after it was taken out and put in
   * again.
   */
  readonly inserted: string;
  /** Such as a CD, or a stick with a switch. */
  readonly isReadOnly: boolean;
}

/** What is inserted. */
export interface FoundMedia {
  /** Media with one of the labels that are looked for. */
  readonly labelled: readonly Medium[];
  /** Other file systems on USB that nothing of the host has mounted. */
  readonly others: readonly Medium[];
}

const deviceSchema = z.object({
  path: z.string().startsWith('/dev/'),
  kname: z.string().regex(/^[\w!-]+$/),
  pkname: z.string().nullable(),
  fstype: z.string().nullable(),
  label: z.string().nullable(),
  ro: z.boolean().default(false),
  /** Of a whole device. */
  tran: z.string().nullable().default(null),
  mountpoints: z.array(z.string().nullable()).default([]),
});
type Device = z.infer<typeof deviceSchema>;
const lsblkSchema = z.object({ blockdevices: z.array(deviceSchema) });
const COLUMNS = Object.keys(deviceSchema.shape).join(',').toUpperCase();
const SETTLE_MS = 30_000;

/** Of what blkid names, these are no file systems: they are parts of one, or have one in them. */
const NO_FILE_SYSTEM = /_member$|^crypto_|^swap$|^(?:dm|bcache|zfs)/i;

/**
 * All media with one of these labels, in any case, and file systems on USB: whole devices and partitions. A device whose
 * partition shows the same file system again counts once.
 */
export async function findMedia(
  paths: HostPaths,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<FoundMedia> {
  const limits = { signal, deadlineMs: SETTLE_MS };
  await run('udevadm', ['settle', '--timeout=20'], limits);
  const text = await run('lsblk', ['--json', '--list', `--output=${COLUMNS}`], limits);
  const devices = lsblkSchema.parse(JSON.parse(text)).blockdevices;
  const withFiles = devices.filter(({ fstype }) => fstype !== null && !NO_FILE_SYSTEM.test(fstype));
  const isLabelled = ({ label }: Device) => labels.includes(label?.toLowerCase() ?? '');
  const isOther = (device: Device) => !isLabelled(device) && isFreeUsb(device, devices);
  const media = (of: readonly Device[]) =>
    Promise.all(withoutRepetition(of).map((device) => mediumOf(paths, device)));
  return {
    labelled: await media(withFiles.filter(isLabelled)),
    others: await media(withFiles.filter(isOther)),
  };
}

/** On a disk of USB of which nothing is mounted: a host may run from one. */
function isFreeUsb({ kname, pkname }: Device, devices: readonly Device[]): boolean {
  const disk = pkname ?? kname;
  const all = devices.filter((each) => each.kname === disk || each.pkname === disk);
  const isUsed = ({ mountpoints }: Device) => mountpoints.some((point) => point !== null);
  return all.some(({ tran }) => tran === 'usb') && !all.some(isUsed);
}

function withoutRepetition(found: readonly Device[]): Device[] {
  const names = new Set(found.map(({ kname }) => kname));
  return found.filter(({ pkname }) => pkname === null || !names.has(pkname));
}

async function mediumOf(
  paths: HostPaths,
  { path, kname, pkname, fstype, label, ro }: Device,
): Promise<Medium> {
  return {
    device: path,
    fileSystem: fstype ?? '',
    label: label ?? '',
    inserted: await insertion(paths, pkname ?? kname),
    isReadOnly: ro,
  };
}

async function insertion(paths: HostPaths, disk: string): Promise<string> {
  const number = await readTextIfPresent(paths.at(`/sys/class/block/${disk}/diskseq`));
  return `${disk} ${number?.trim() ?? ''}`;
}

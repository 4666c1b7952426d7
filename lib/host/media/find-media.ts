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
  mountpoint: z.string().nullable().default(null),
});
type Device = z.infer<typeof deviceSchema>;
const lsblkSchema = z.object({ blockdevices: z.array(deviceSchema) });
const COLUMNS = Object.keys(deviceSchema.shape).join(',').toUpperCase();
const SETTLE_MS = 30_000;
/** Of devices upon devices: a partition, LUKS, LVM. */
const MOST_LEVELS = 8;

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

/** On a disk of USB of which nothing is mounted, also not by way of LUKS or LVM: a host may run from one. */
function isFreeUsb(device: Device, devices: readonly Device[]): boolean {
  const disk = diskOf(device, devices);
  if (disk.tran !== 'usb') return false;
  return !devices.some((each) => each.mountpoint !== null && diskOf(each, devices) === disk);
}

function diskOf(device: Device, devices: readonly Device[]): Device {
  let found = device;
  for (let level = 0; level < MOST_LEVELS; level++) {
    const parent = devices.find(({ kname }) => kname === found.pkname);
    if (parent === undefined) break;
    found = parent;
  }
  return found;
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

import { readdir, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { Failure } from '../base/errors/failure.ts';
import { type BlockNode, partitionNumber, readBlockNode } from './block-device.ts';
import { run } from './command.ts';
import { exists, namesIn } from './files.ts';
import type { HostPaths } from './paths.ts';

const deviceSchema = z.object({
  path: z.string(),
  kname: z.string(),
  type: z.string(),
  size: z.number(),
  label: z.string().nullable(),
  fstype: z.string().nullable(),
  pttype: z.string().nullable(),
  partlabel: z.string().nullable(),
  parttype: z.string().nullable(),
  partuuid: z.string().nullable(),
});
const COLUMNS = Object.keys(deviceSchema.shape).join(',').toUpperCase();
const PROBE_MS = 20_000;
const lsblkSchema = z.object({ blockdevices: z.array(deviceSchema) });

type Device = z.infer<typeof deviceSchema>;

/** `number` and `partlabel` are from the partition table, `label` is the file system's. */
export type Partition = Device & {
  readonly number?: number | undefined;
  readonly startBytes?: number | undefined;
};

/** A block device and its contents, as reported by lsblk; `size` in bytes. */
export type BlockDevice = Device & { readonly children?: readonly Partition[] };

/** A block device by its path on the host, and what the kernel reports about it. */
export interface FoundDisk {
  readonly path: string;
  readonly node: BlockNode;
}

/**
 * Resolves a device name. Waits for udev first: right after boot or after writing,
 * symlinks and partitions may not exist yet.
 * @throws Failure, fatal, if there is no such block device
 */
export async function findDisk(
  device: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<FoundDisk> {
  await run('udevadm', ['settle', '--timeout=20'], { signal, deadlineMs: 30_000 });
  return resolveDevice(device, paths);
}

/** Reads a disk and its partitions. `device` may be a symlink in /dev/disk/by-id. */
export async function readDisk(
  device: string,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<BlockDevice> {
  const { path } = await findDisk(device, paths, signal);
  const text = await run('lsblk', ['--json', '--bytes', '--list', `--output=${COLUMNS}`, path], {
    signal,
    deadlineMs: 30_000,
  });
  const [disk, ...children] = lsblkSchema.parse(JSON.parse(text)).blockdevices;
  if (disk === undefined)
    throw new Failure('retry', `lsblk does not list ${path}`, { code: 'disk-not-found' });
  const [whole, ...parts] = await Promise.all(
    [disk, ...children].map((device) => probed(device, paths, signal)),
  );
  return {
    ...(whole ?? disk),
    children: await Promise.all(parts.map((part) => numbered(part, paths))),
  };
}

async function numbered(device: Device, paths: HostPaths): Promise<Partition> {
  const node = await readBlockNode(paths, device.kname);
  if (node === undefined) return device;
  return {
    ...device,
    number: partitionNumber(node),
    startBytes: node.partition?.startBytes,
  };
}

/**
 * Fills in what lsblk does not know by probing the device itself: udev may not have
 * processed it yet, and an installation that is not recognized might be overwritten.
 */
async function probed(device: Device, paths: HostPaths, signal: AbortSignal): Promise<Device> {
  if (device.fstype !== null) return device;
  if (!(await exists(paths.at(device.path)))) {
    throw new Failure('retry', `the partition ${device.path} has no device node yet`);
  }
  const args = ['--probe', '--output', 'export', device.path];
  const { stdout, exitCode, stderr } = await execa('blkid', args, {
    cancelSignal: signal,
    timeout: PROBE_MS,
    reject: false,
  });
  // 2: blkid recognizes nothing. Any other code says nothing about the disk.
  if (exitCode !== 0 && exitCode !== 2) {
    throw new Failure('retry', `${device.path} cannot be read`, {
      found: `blkid: exit code ${exitCode ?? 'none'}, ${stderr}`,
      fix: 'Check the disk and its cable: nothing is written until it can be read.',
    });
  }
  const value = (tag: string) => new RegExp(`^${tag}=(.*)$`, 'm').exec(stdout)?.[1] ?? null;
  return {
    ...device,
    fstype: value('TYPE'),
    label: value('LABEL') ?? device.label,
    pttype: value('PTTYPE') ?? device.pttype,
    partlabel: device.partlabel ?? value('PART_ENTRY_NAME'),
    parttype: device.parttype ?? value('PART_ENTRY_TYPE'),
    partuuid: device.partuuid ?? value('PART_ENTRY_UUID'),
  };
}

/** A file system of any disk, by its label. */
export interface LabelledFileSystem {
  /** Such as `/dev/sdb1`. */
  readonly path: string;
  readonly label: string;
}

/**
 * Every file system with one of these labels on this host, but those on `disk` and on the devices that it
 * consists of. The devices themselves are read: udev may not have processed them yet.
 */
export async function labelledElsewhere(
  labels: readonly string[],
  { path: diskPath, node }: FoundDisk,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<LabelledFileSystem[]> {
  const members = await namesIn(paths.at(`/sys/class/block/${node.name}/slaves`));
  const list = ['--noheadings', '--list', '--output=KNAME', diskPath];
  const its = [...list, ...members.map((name) => `/dev/${name}`)];
  const own = new Set((await run('lsblk', its, { signal, deadlineMs: 30_000 })).split(/\s+/));
  const found = await Promise.all(labels.map((label) => devicesLabelled(label, signal)));
  const each = await Promise.all(
    found.flat().map(async (device) => ({
      ...device,
      name: basename(await realpath(paths.at(device.path)).catch(() => device.path)),
    })),
  );
  return each.flatMap(({ name, ...device }) => (own.has(name) ? [] : [device]));
}

async function devicesLabelled(label: string, signal: AbortSignal): Promise<LabelledFileSystem[]> {
  const args = ['--cache-file=/dev/null', '--match-token', `LABEL=${label}`, '--output', 'device'];
  const { stdout, exitCode, stderr } = await execa('blkid', args, {
    cancelSignal: signal,
    timeout: PROBE_MS,
    reject: false,
  });
  // 2: no device has it.
  if (exitCode !== 0 && exitCode !== 2) {
    throw new Failure('retry', 'the labels of the disks cannot be read', {
      found: `blkid: exit code ${exitCode ?? 'none'}, ${stderr}`,
    });
  }
  return stdout.split('\n').flatMap((path) => (path === '' ? [] : [{ path, label }]));
}

/** Path of the device on the host. The kernel decides whether it is a block device. */
async function resolveDevice(device: string, paths: HostPaths): Promise<FoundDisk> {
  try {
    const path = await realpath(paths.at(device));
    const node = await readBlockNode(paths, basename(path));
    if (node !== undefined) return { path: paths.onHost(path), node };
    throw new Failure('fatal', `the installation disk ${device} is not a block device`, {
      code: 'disk-unsuitable',
      fix: 'Set a complete disk in bootstrapInPlace.installationDisk, preferably from /dev/disk/by-id.',
    });
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('fatal', `the installation disk ${device} does not exist`, {
      code: 'disk-not-found',
      found: `the disks ${await knownDisks(paths)}`,
      fix: 'Correct bootstrapInPlace.installationDisk, or connect the disk.',
      cause: error,
    });
  }
}

async function knownDisks(paths: HostPaths): Promise<string> {
  try {
    const names = await readdir(paths.at('/dev/disk/by-id'));
    return names.map((name) => `/dev/disk/by-id/${name}`).join(', ') || 'none';
  } catch {
    return 'none in /dev/disk/by-id';
  }
}

/** The partition with that file system label. */
export function partition(disk: BlockDevice, label: string): Partition | undefined {
  return disk.children?.find((child) => child.label === label);
}

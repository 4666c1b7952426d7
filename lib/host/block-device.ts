import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemErrorCode } from '../base/errors/system-error-code.ts';
import { namesIn } from './files.ts';
import type { HostPaths } from './paths.ts';

/** A block device as the kernel's sysfs describes it (Documentation/ABI, sysfs-block). */
export interface BlockNode {
  /** The kernel's name, such as `sda1` or `dm-0`. */
  readonly name: string;
  /** `major:minor`. */
  readonly number: string;
  readonly bytes: number;
  readonly readOnly: boolean;
  /** Its place in the partition table; set for partitions only. */
  readonly partition?: { readonly number: number; readonly startBytes: number };
  /**
   * A device-mapper device: its name, and the UUID whose prefix names its creator
   * (`LVM-`, `CRYPT-`, `mpath-`).
   */
  readonly mapper?: { readonly name: string; readonly uuid: string };
  /**
   * A software array: its level, and its metadata format (`external:`: managed by
   * the firmware).
   */
  readonly array?: { readonly level: string; readonly metadata: string };
  /** The file or device behind an active loop device. */
  readonly backing?: string;
}

/** `linux/fs.h`: sysfs counts in these units, whatever the device's own sector size. */
const SECTOR_BYTES = 512;
/** The attribute does not exist, the device has been removed, or the drive has no medium. */
const NO_ANSWER: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ENODEV', 'ENXIO', 'EINVAL']);

const classFolder = (paths: HostPaths, ...names: string[]) =>
  join(paths.at('/sys/class/block'), ...names);

/** Reads a device of /sys/class/block; undefined if the kernel has no device of that name. */
export async function readBlockNode(
  paths: HostPaths,
  name: string,
): Promise<BlockNode | undefined> {
  const attribute = (...path: string[]) => readAttribute(classFolder(paths, name, ...path));
  const number = await attribute('dev');
  if (number === undefined) return undefined;
  const [size, readOnly, partition, start, mapper, uuid, level, metadata, backing] =
    await Promise.all([
      attribute('size'),
      attribute('ro'),
      attribute('partition'),
      attribute('start'),
      attribute('dm', 'name'),
      attribute('dm', 'uuid'),
      attribute('md', 'level'),
      attribute('md', 'metadata_version'),
      attribute('loop', 'backing_file'),
    ]);
  return {
    name,
    number,
    bytes: Number(size ?? 0) * SECTOR_BYTES,
    readOnly: readOnly === '1',
    ...(partition === undefined
      ? {}
      : {
          partition: { number: Number(partition), startBytes: Number(start ?? 0) * SECTOR_BYTES },
        }),
    ...(mapper === undefined ? {} : { mapper: { name: mapper, uuid: uuid ?? '' } }),
    ...(metadata === undefined ? {} : { array: { level: level ?? '', metadata } }),
    ...(backing === undefined ? {} : { backing }),
  };
}

/**
 * A disk's partitions in the order of the table: the kernel's own and, for a
 * device-mapper device, those created by kpartx.
 */
export async function partitionsOf(paths: HostPaths, name: string): Promise<BlockNode[]> {
  const entries = await namesIn(classFolder(paths, name));
  const nodes = await Promise.all(
    [...entries, ...(await holdersOf(paths, name))].map((entry) => readBlockNode(paths, entry)),
  );
  return nodes
    .filter((node) => node !== undefined)
    .flatMap((node) => {
      const number = partitionNumber(node);
      return number === undefined ? [] : [{ node, number }];
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ node }) => node);
}

/** The number of a kernel or kpartx partition; undefined for anything else. */
export function partitionNumber({ partition, mapper }: BlockNode): number | undefined {
  if (partition !== undefined) return partition.number;
  const number = /^part(\d+)-/.exec(mapper?.uuid ?? '')?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The disk that contains a kernel partition. */
export async function diskOfPartition(paths: HostPaths, name: string): Promise<string> {
  return basename(dirname(await realpath(classFolder(paths, name))));
}

/** Names of the devices that are built on this one. */
export const holdersOf = (paths: HostPaths, name: string): Promise<string[]> =>
  namesIn(classFolder(paths, name, 'holders'));

/** The names of all block devices that the kernel knows. */
export const allBlockDevices = (paths: HostPaths): Promise<string[]> => namesIn(classFolder(paths));

async function readAttribute(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (NO_ANSWER.has(systemErrorCode(error))) return undefined;
    throw error;
  }
}

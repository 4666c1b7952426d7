import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../base/errors/system-error-code.ts';
import {
  allBlockDevices,
  type BlockNode,
  diskOfPartition,
  holdersOf,
  partitionNumber,
  partitionsOf,
  readBlockNode,
} from './block-device.ts';
import type { FoundDisk } from './disk.ts';
import { exists, namesIn, readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

/** What created a device on top of others. */
export type HolderKind = 'lvm' | 'crypt' | 'multipath' | 'array' | 'bcache' | 'other';

/** One reason why a device cannot be written: what uses it, and what in turn uses that. */
export type DeviceUse = { readonly device: string } & (
  | { readonly by: 'mount'; readonly at: string }
  | { readonly by: 'swap' }
  | { readonly by: 'loop'; readonly name: string }
  | {
      readonly by: 'holder';
      readonly kind: HolderKind;
      readonly name: string;
      readonly uses: readonly DeviceUse[];
    }
);

/** What the kernel reports about a device: evidence from sysfs, mountinfo, swaps and udev. */
export interface DiskUse {
  readonly path: string;
  readonly node: BlockNode;
  /** For a partition: its disk. */
  readonly disk?: string;
  /** Other devices that claim the symlink by which this one was found. */
  readonly rivals: readonly string[];
  /** A host in a container has no disks of its own except loop devices. */
  readonly inContainer: boolean;
  readonly uses: readonly DeviceUse[];
  /** Opened exclusively by something that `uses` does not explain. */
  readonly isClaimed: boolean;
}

interface KernelTables {
  readonly mounts: readonly Mount[];
  readonly swaps: readonly string[];
  readonly loops: readonly { readonly name: string; readonly backing: string }[];
}

interface Mount {
  readonly number: string;
  readonly at: string;
  readonly root: string;
  readonly source: string;
}

/** Reads what uses a disk and its partitions. `device` is the name by which the disk was found. */
export async function readDiskUse(
  paths: HostPaths,
  device: string,
  { path, node }: FoundDisk,
): Promise<DiskUse> {
  const tables = await readTables(paths);
  const nodes = [node, ...(await partitionsOf(paths, node.name))];
  const uses = (await Promise.all(nodes.map((each) => usesOf(paths, each, tables)))).flat();
  return {
    path,
    node,
    ...(node.partition === undefined
      ? {}
      : { disk: `/dev/${await diskOfPartition(paths, node.name)}` }),
    rivals: await rivalsOf(paths, device, node),
    inContainer: await exists(paths.at('/run/systemd/container')),
    uses,
    isClaimed: uses.length === 0 && (await isClaimed(paths.at(path))),
  };
}

/** The uses of this device alone, without those of its partitions. */
async function usesOf(
  paths: HostPaths,
  node: BlockNode,
  tables: KernelTables,
): Promise<DeviceUse[]> {
  const device = devicePath(node);
  const names = [`/dev/${node.name}`, device];
  const uses: DeviceUse[] = mountPoints(tables.mounts, node.number, names).map((at) => ({
    device,
    by: 'mount',
    at,
  }));
  if (tables.swaps.some((swap) => names.includes(swap))) uses.push({ device, by: 'swap' });
  for (const { name, backing } of tables.loops) {
    if (names.includes(backing)) uses.push({ device, by: 'loop', name });
  }
  for (const name of await holdersOf(paths, node.name)) {
    const holder = await readBlockNode(paths, name);
    // kpartx devices on a multipath disk are its partitions, which are examined separately.
    if (holder === undefined || partitionNumber(holder) !== undefined) continue;
    const nodes = [holder, ...(await partitionsOf(paths, name))];
    const below = await Promise.all(nodes.map((each) => usesOf(paths, each, tables)));
    const { kind, label } = holderOf(holder);
    uses.push({ device, by: 'holder', kind, name: label, uses: below.flat() });
  }
  return uses;
}

/** `/dev/mapper/<name>` for a device-mapper device, the name that people and lsblk use. */
const devicePath = ({ name, mapper }: BlockNode) =>
  mapper === undefined ? `/dev/${name}` : `/dev/mapper/${mapper.name}`;

function holderOf(node: BlockNode): { kind: HolderKind; label: string } {
  const { name, mapper, array } = node;
  if (array !== undefined) return { kind: 'array', label: name };
  if (name.startsWith('bcache')) return { kind: 'bcache', label: name };
  if (mapper === undefined) return { kind: 'other', label: name };
  const maker = /^([A-Za-z]+)-/.exec(mapper.uuid)?.[1];
  const kinds: Readonly<Record<string, HolderKind>> = {
    LVM: 'lvm',
    CRYPT: 'crypt',
    mpath: 'multipath',
  };
  return { kind: kinds[maker ?? ''] ?? 'other', label: mapper.name };
}

/**
 * Where a device is mounted: by device number, and also by source, since btrfs has
 * a number of its own. Bind mounts of sandboxes are left out.
 */
function mountPoints(
  mounts: readonly Mount[],
  number: string,
  names: readonly string[],
): readonly string[] {
  const found = mounts.filter((mount) => mount.number === number || names.includes(mount.source));
  const whole = found.filter(({ root }) => root === '/');
  return [...new Set((whole.length > 0 ? whole : found).map(({ at }) => at))];
}

async function readTables(paths: HostPaths): Promise<KernelTables> {
  const [mountinfo, swaps, names] = await Promise.all([
    readTextIfPresent(paths.at('/proc/self/mountinfo')),
    readTextIfPresent(paths.at('/proc/swaps')),
    allBlockDevices(paths),
  ]);
  const loops = await Promise.all(
    names.filter((name) => name.startsWith('loop')).map((name) => readBlockNode(paths, name)),
  );
  return {
    mounts: parseMountInfo(mountinfo ?? ''),
    swaps: Array.from((swaps ?? '').matchAll(/^\/\S+/gm), ([name]) => unescaped(name)),
    loops: loops.flatMap((loop) =>
      loop?.backing === undefined ? [] : [{ name: loop.name, backing: loop.backing }],
    ),
  };
}

/** proc_pid_mountinfo(5): fields 3 to 5, and the source, the second field after the dash. */
function parseMountInfo(text: string): Mount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , number, root, at] = before.split(' ');
    if (number === undefined || root === undefined || at === undefined) return [];
    const source = after.split(' ')[1] ?? '';
    return [{ number, root: unescaped(root), at: unescaped(at), source: unescaped(source) }];
  });
}

/** The kernel escapes spaces, tabs, newlines and backslashes in names as three octal digits. */
const unescaped = (text: string) =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );

/**
 * An exclusive open fails while a program has the device or a partition open
 * exclusively (open(2)).
 */
async function isClaimed(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK)).close();
    return false;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EBUSY') return true;
    // A drive without a medium; its size shows that.
    if (code === 'ENOMEDIUM') return false;
    throw error;
  }
}

/**
 * For each symlink, udev records every device that claims it. Several claims make
 * the intended disk ambiguous: two paths to one disk, or a cloned disk.
 */
async function rivalsOf(paths: HostPaths, device: string, node: BlockNode): Promise<string[]> {
  if (!device.startsWith('/dev/disk/')) return [];
  const link = device.slice('/dev'.length).replaceAll('\\', '\\x5c').replaceAll('/', '\\x2f');
  const claims = await namesIn(join(paths.at('/run/udev/links'), link));
  const others = claims.filter((claim) => /^b\d+:\d+$/.test(claim) && claim !== `b${node.number}`);
  if (others.length === 0) return [];
  // A multipath device claims the same symlinks as its paths, and takes precedence.
  const slaves = await namesIn(join(paths.at('/sys/class/block'), node.name, 'slaves'));
  const nodes = await Promise.all(
    (await allBlockDevices(paths)).map((name) => readBlockNode(paths, name)),
  );
  return nodes
    .filter((other) => other !== undefined)
    .filter(({ name, number }) => others.includes(`b${number}`) && !slaves.includes(name))
    .map(devicePath);
}

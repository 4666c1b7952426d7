import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import type { InstallableCluster } from '../../config/cluster/cluster.ts';
import { type BlockDevice, findDisk, readDisk } from '../../host/disk.ts';
import { readDiskUse } from '../../host/disk-use.ts';
import { isMissing } from '../../host/files.ts';
import { withMounted } from '../../host/mount.ts';
import type { HostPaths } from '../../host/paths.ts';
import { refuseDisk } from './disk-refusal.ts';
import { type KeptPartitions, keptPartitions, requireKept } from './kept-partitions.ts';
import { findMarker, type InstallationMarker } from './marker.ts';

/** The contents of the target disk, read without changing it. */
export type DiskFinding =
  | { readonly kind: 'empty' }
  /** Nothing but partitions that are to be kept. */
  | { readonly kind: 'only-kept'; readonly partitions: string }
  /** A complete installation of this very cluster. */
  | { readonly kind: 'finished'; readonly at: string; readonly bootOrderSetAt?: string }
  /** Written for this cluster, but never completed. */
  | { readonly kind: 'half-finished' }
  | { readonly kind: 'other-system'; readonly what: string };

/**
 * Inspects the installation disk before anything else is done: a live medium that
 * stayed first in the boot order must not wipe a running cluster.
 * @throws Failure if it must not be written whatever its contents (disk-refusal.ts)
 */
export async function inspectTarget(
  cluster: InstallableCluster,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<DiskFinding> {
  const { disk: device, savePartitions } = cluster.installation;
  await requireFree(device, paths, signal);
  const disk = await readDisk(device, paths, signal);
  const kept = keptPartitions(disk, savePartitions);
  const look = <T>(label: string, use: (folder: string) => Promise<T>) =>
    lookInto(disk, label, paths, signal, use);
  const placed = await look('root', (root) => findMarker(root, cluster.clusterId));
  const ignition = await look('boot', (boot) => readInstalledIgnition(boot));
  const finding = judgeDisk(disk, cluster.clusterId, placed?.marker, ignition, kept);
  if (finding.kind !== 'finished') requireKept(device, disk, kept);
  return finding;
}

async function requireFree(device: string, paths: HostPaths, signal: AbortSignal): Promise<void> {
  const found = await findDisk(device, paths, signal);
  const refusal = refuseDisk(device, await readDiskUse(paths, device, found));
  if (refusal !== undefined) throw refusal;
}

/** The decision alone, from what was read from the disk. */
export function judgeDisk(
  disk: Pick<BlockDevice, 'fstype' | 'pttype' | 'children'>,
  clusterId: string,
  marker: InstallationMarker | undefined,
  ignition: string | undefined,
  { kept }: Pick<KeptPartitions, 'kept'> = { kept: [] },
): DiskFinding {
  if (marker?.clusterId === clusterId) {
    if (marker.state === 'writing') return { kind: 'half-finished' };
    const { at, bootOrderSetAt } = marker;
    return { kind: 'finished', at, ...(bootOrderSetAt === undefined ? {} : { bootOrderSetAt }) };
  }
  if (ignition?.includes(clusterId) === true) return { kind: 'half-finished' };
  if (marker !== undefined) return { kind: 'other-system', what: `the cluster ${marker.cluster}` };
  const others = (disk.children ?? []).filter((child) => !kept.includes(child));
  const names = (list: typeof kept) =>
    list.map((child) => child.label ?? child.partlabel ?? child.fstype ?? 'unnamed').join(', ');
  if (others.length > 0) return { kind: 'other-system', what: `partitions ${names(others)}` };
  if (kept.length > 0) return { kind: 'only-kept', partitions: names(kept) };
  if (disk.fstype !== null) return { kind: 'other-system', what: `a ${disk.fstype} file system` };
  if (disk.pttype !== null)
    return { kind: 'other-system', what: `a ${disk.pttype} partition table` };
  return { kind: 'empty' };
}

/** Throws unless the disk may be written; returns what was found, as a sentence. */
export function requireWritable(cluster: InstallableCluster, finding: DiskFinding): string {
  const { disk, existingSystem } = cluster.installation;
  switch (finding.kind) {
    case 'empty':
      return `${disk} is empty`;
    case 'only-kept':
      return `${disk} contains only partitions to keep: ${finding.partitions}`;
    case 'half-finished':
      return `${disk} contains an unfinished installation of this cluster, which starts over`;
    case 'other-system':
      if (existingSystem === 'overwrite') {
        return `${disk} holds ${finding.what}, which will be overwritten as configured`;
      }
      throw new Failure('fatal', `${disk} holds another system`, {
        code: 'disk-other-system',
        expected: 'an empty disk',
        found: finding.what,
        fix: 'Wipe the disk, use another one, or set bootstrapInPlace.existingSystem to overwrite.',
      });
    case 'finished':
      throw alreadyInstalled(disk, finding);
  }
}

export type FinishedInstallation = Extract<DiskFinding, { kind: 'finished' }>;

/** The error for a finished installation wherever it must not be overwritten. */
export function alreadyInstalled(disk: string, { at }: FinishedInstallation): Failure {
  return new Failure('fatal', `${disk} holds a finished installation of this cluster`, {
    code: 'disk-installed',
    found: `completed at ${at}`,
    fix: 'Nothing was changed. Remove the live medium, or put the disk first in the boot order, and restart the host.',
  });
}

/**
 * The last check before the disk is written. Other contents were allowed when it
 * was inspected, and may by now be left over from an earlier attempt at writing.
 */
export async function inspectAgain(
  cluster: InstallableCluster,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<void> {
  const finding = await inspectTarget(cluster, paths, signal);
  if (finding.kind === 'finished') throw alreadyInstalled(cluster.installation.disk, finding);
}

async function lookInto<T>(
  disk: BlockDevice,
  label: string,
  paths: HostPaths,
  signal: AbortSignal,
  use: (folder: string) => Promise<T>,
): Promise<T | undefined> {
  const found = disk.children?.find((child) => child.label === label);
  if (found === undefined || found.fstype === null) return undefined;
  const { path: device, fstype } = found;
  return withMounted({ device, fstype, writable: false, runFolder: paths.run, signal }, use);
}

async function readInstalledIgnition(boot: string): Promise<string | undefined> {
  try {
    return await readFile(join(boot, 'ignition/config.ign'), 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { run } from '../../lib/host/command.ts';
import { exists } from '../../lib/host/files.ts';
import { quickly } from './command.ts';
import { attachLoopDevice, detachLoopDevice } from './loop.ts';
import { mount, teardownSignal } from './mount.ts';
import { Teardown } from './teardown.ts';

export interface Partition {
  readonly number: number;
  readonly label: string;
  readonly offset: number;
  readonly bytes: number;
}

/** A disk of a host: a sparse file. */
export interface Disk {
  readonly file: string;
  readonly bytes: number;
}

/** Mount points of a disk's partitions, and where its operating system has its files on the root. */
export interface MountedPartitions {
  readonly boot: string;
  readonly root: string;
  readonly etc: string;
  readonly var: string;
}

/** Of a system that ostree has deployed once, or of an ordinary one. */
const STATEROOTS = 'ostree/deploy';

const tableSchema = z.object({
  partitiontable: z.object({
    sectorsize: z.number(),
    partitions: z.array(
      z.object({
        node: z.string(),
        start: z.number(),
        size: z.number(),
        name: z.string().optional(),
      }),
    ),
  }),
});

export async function createDisk(file: string, bytes: number): Promise<Disk> {
  const handle = await open(file, 'wx', 0o600);
  await handle.truncate(bytes);
  await handle.close();
  return { file, bytes };
}

/** Partitions from the disk's table, read in user space: the kernel may lack a parser. */
export async function readPartitions(disk: Disk, signal: AbortSignal): Promise<Partition[]> {
  const { partitiontable } = tableSchema.parse(
    JSON.parse(await quickly('sfdisk', ['--json', disk.file], signal)),
  );
  const { sectorsize } = partitiontable;
  return partitiontable.partitions.map(({ node, start, size, name }) => ({
    number: Number(/\d+$/.exec(node)?.[0]),
    label: name ?? '',
    offset: start * sectorsize,
    bytes: size * sectorsize,
  }));
}

/** Attaches the partition with this label as a separate block device. */
export async function attachPartition(
  disk: Disk,
  label: string,
  readOnly: boolean,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<string> {
  const partitions = await readPartitions(disk, signal);
  const partition = partitions.find((candidate) => candidate.label === label);
  if (partition === undefined) {
    throw new Failure('fatal', `no partition labelled "${label}" on the disk`, {
      found: partitions.map((candidate) => candidate.label).join(', ') || 'no partition',
    });
  }
  const window = { offset: partition.offset, bytes: partition.bytes };
  const device = await attachLoopDevice(disk.file, { window, readOnly }, signal);
  teardown.add(`detach ${device}`, () => detachLoopDevice(device, teardownSignal()));
  return device;
}

/**
 * Mounts boot and root read-only, without replaying their journals, and calls `look` with the
 * mount points: the disk remains unchanged.
 */
export async function inspectDisk<T>(
  disk: Disk,
  signal: AbortSignal,
  look: (mounted: MountedPartitions) => Promise<T>,
): Promise<T> {
  const teardown = new Teardown();
  const folder = await mkdtemp(join(dirname(disk.file), 'inspect-'));
  teardown.add(`remove ${folder}`, () => rm(folder, { recursive: true }));
  try {
    const mounted = { boot: join(folder, 'boot'), root: join(folder, 'root') };
    for (const [label, target] of Object.entries(mounted)) {
      const device = await attachPartition(disk, label, true, teardown, signal);
      const options = { type: 'ext4', options: ['ro', 'noload'] };
      await mount(device, target, options, teardown, signal);
    }
    return await look({ ...mounted, ...(await systemFolders(mounted.root)) });
  } finally {
    await teardown.run();
  }
}

async function systemFolders(root: string): Promise<Pick<MountedPartitions, 'etc' | 'var'>> {
  const stateroots = join(root, STATEROOTS);
  if (!(await exists(stateroots))) return { etc: join(root, 'etc'), var: join(root, 'var') };
  const stateroot = await onlyFolder(stateroots);
  return {
    etc: join(await onlyFolder(join(stateroot, 'deploy')), 'etc'),
    var: join(stateroot, 'var'),
  };
}

async function onlyFolder(parent: string): Promise<string> {
  const entries = await readdir(parent, { withFileTypes: true });
  const [folder, ...more] = entries.filter((entry) => entry.isDirectory());
  if (folder !== undefined && more.length === 0) return join(parent, folder.name);
  throw new Failure('fatal', `${parent} has not exactly one folder`, {
    found: entries.map(({ name }) => name).join(', '),
  });
}

/** Extends the root partition into the free space after it; its file system is grown later. */
export async function growRootPartition(disk: Disk, signal: AbortSignal): Promise<void> {
  const root = (await readPartitions(disk, signal)).find(({ label }) => label === 'root');
  if (root === undefined) return;
  // The image's backup table is not yet at the end of the disk.
  await quickly('sgdisk', ['--move-second-header', disk.file], signal);
  const args = ['--no-reread', '--no-tell-kernel', '-q', '-N', `${root.number}`, disk.file];
  await run('sfdisk', args, { signal, deadlineMs: 60_000, input: ', +\n' });
}

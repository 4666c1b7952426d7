import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { quickly } from './command.ts';
import { type Disk, type Partition, readPartitions } from './disk.ts';

export const DATA_LABEL = 'data-lab';
/** Not the first: the operating system uses the lower numbers. */
const NUMBER = 5;
const MIB = 64;

/** A partition as stored on the disk, with its contents. */
export interface DataPartition extends Partition {
  readonly sha256: string;
}

/** Creates a partition table on an empty disk, with a file system at its end that contains a file. */
export async function makeDataPartition(disk: Disk, signal: AbortSignal): Promise<DataPartition> {
  const table = ['-o', `-n${NUMBER}:-${MIB}M:0`, `-t${NUMBER}:8300`, `-c${NUMBER}:${DATA_LABEL}`];
  await quickly('sgdisk', [...table, disk.file], signal);
  const { offset, bytes } = await findPartition(disk, signal);
  const folder = await mkdtemp(join(dirname(disk.file), 'data-'));
  try {
    await writeFile(join(folder, 'measurements'), 'what an earlier system kept\n');
    const place = ['-d', folder, '-E', `offset=${offset},root_owner=0:0`];
    const size = `${Math.floor(bytes / 1024)}K`;
    await quickly('mke2fs', ['-q', '-F', '-t', 'ext4', ...place, disk.file, size], signal);
  } finally {
    await rm(folder, { recursive: true });
  }
  return readDataPartition(disk, signal);
}

/** Throws unless the partition has the same position, number, label and bytes as before. */
export async function requireUnchanged(
  disk: Disk,
  expected: DataPartition,
  signal: AbortSignal,
): Promise<void> {
  const found = await readDataPartition(disk, signal);
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  throw new Failure('fatal', 'the partition to keep was changed', {
    expected: JSON.stringify(expected),
    found: JSON.stringify(found),
  });
}

async function readDataPartition(disk: Disk, signal: AbortSignal): Promise<DataPartition> {
  const partition = await findPartition(disk, signal);
  const range = { start: partition.offset, end: partition.offset + partition.bytes - 1, signal };
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(disk.file, range)) hash.update(chunk);
  return { ...partition, sha256: hash.digest('hex') };
}

async function findPartition(disk: Disk, signal: AbortSignal): Promise<Partition> {
  const partitions = await readPartitions(disk, signal);
  const found = partitions.find(({ label }) => label === DATA_LABEL);
  if (found !== undefined) return found;
  throw new Failure('fatal', 'the partition to keep no longer exists', {
    expected: DATA_LABEL,
    found: partitions.map(({ label }) => label).join(', '),
  });
}

import { z } from 'zod';
import { bytes, flag, isGiven, isOnce, named, number, options, path, text } from './values.ts';

const LONGEST_PARTITION_LABEL = 36;
const LONGEST_LABEL: ReadonlyMap<unknown, number> = new Map([
  ['ext4', 16],
  ['btrfs', 256],
  ['xfs', 12],
  ['swap', 15],
  ['vfat', 11],
]);
const RAID_LEVEL = /^(?:linear|stripe|mirror|(?:raid)?(?:0|1|4|5|6|10))$/;
const WITHOUT_SPARES = /^(?:linear|stripe|(?:raid)?0)$/;

const guid = z
  .string()
  .regex(/^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})?$/i, 'is not a GUID')
  .optional();

const partitionOf = (minor: number) =>
  z
    .strictObject({
      ...{ label: text, number, sizeMiB: number, startMiB: number, typeGuid: guid, guid },
      ...{ wipePartitionEntry: flag, shouldExist: flag },
      ...(minor >= 2 ? { resize: flag } : {}),
    })
    .refine(({ label, number = 0 }) => label !== undefined || number !== 0, {
      error: 'has neither a label nor a number above 0',
    })
    .refine(({ label = '' }) => bytes(label) <= LONGEST_PARTITION_LABEL && !label.includes(':'), {
      error: `is longer than ${LONGEST_PARTITION_LABEL} characters, or has a colon`,
      path: ['label'],
    })
    .refine(
      ({ shouldExist, label, typeGuid, guid, startMiB, sizeMiB }) =>
        shouldExist !== false ||
        ([label, startMiB, sizeMiB].every((value) => value === undefined) && !typeGuid && !guid),
      'should not exist, and has more than its number',
    );

type Partition = z.infer<ReturnType<typeof partitionOf>>;

const diskOf = (minor: number) =>
  z.strictObject({
    ...{ device: path, wipeTable: flag },
    partitions: named(partitionOf(minor), 'number', 'label')
      .refine(areApart, 'has partitions that overlap')
      .refine(
        (all) =>
          !(
            all.some(({ shouldExist }) => shouldExist === false) &&
            all.some(({ number = 0 }) => number === 0)
          ),
        'has partitions that should not exist beside ones without a number',
      )
      .optional(),
  });

/** Partitions with a start and a size; Ignition chooses the place of others. */
function areApart(partitions: readonly Partition[]): boolean {
  const placed = partitions.flatMap(({ startMiB = 0, sizeMiB }) =>
    startMiB === 0 || sizeMiB === undefined
      ? []
      : [{ start: startMiB, end: sizeMiB === 0 ? startMiB : startMiB + sizeMiB - 1 }],
  );
  return placed
    .toSorted((a, b) => a.start - b.start)
    .every(({ start }, index, all) => (all[index - 1]?.end ?? Number.NEGATIVE_INFINITY) < start);
}

const filesystemOf = (minor: number) =>
  z
    .strictObject({
      ...{ device: path, label: text, uuid: text, options, wipeFilesystem: flag },
      path: path.or(z.literal('')).optional(),
      format: z
        .enum(['', 'ext4', 'btrfs', 'xfs', 'vfat', 'swap', ...(minor >= 3 ? ['none'] : [])])
        .optional(),
      ...(minor >= 1 ? { mountOptions: options } : {}),
    })
    .refine(({ format, device: _, ...others }) => format || !Object.values(others).some(isGiven), {
      error: 'is missing: a file system that is made or mounted has one',
      path: ['format'],
    })
    .refine(({ format, label }) => bytes(label) <= (LONGEST_LABEL.get(format) ?? Infinity), {
      error: 'is longer than the format allows',
      path: ['label'],
    });

const raid = z
  .strictObject({
    ...{ name: z.string(), spares: number, options },
    level: z.string().regex(RAID_LEVEL, 'is not a level such as raid1'),
    devices: z.array(path).min(1).refine(isOnce, 'has the same device twice'),
  })
  .refine(({ level, spares = 0 }) => spares === 0 || !WITHOUT_SPARES.test(level), {
    error: 'are not possible at this level',
    path: ['spares'],
  });

/** What Ignition does with disks, from spec 3.`minor`.0 on, without encryption. */
export const diskShapesOf = (minor: number) => ({
  disks: named(diskOf(minor), 'device').optional(),
  raid: named(raid, 'name').optional(),
  filesystems: named(filesystemOf(minor), 'device').optional(),
});

/** A file system on the whole of a disk would overwrite its partitions. */
export const keepsPartitions = ({
  disks = [],
  filesystems = [],
}: {
  readonly disks?:
    | readonly { device: string; partitions?: readonly unknown[] | undefined }[]
    | undefined;
  readonly filesystems?: readonly { device: string }[] | undefined;
}): boolean => {
  const parted = disks.filter(({ partitions }) => isGiven(partitions)).map(({ device }) => device);
  return !filesystems.some(({ device }) => parted.includes(device));
};

import { Failure } from '../../base/errors/failure.ts';
import type { Installation } from '../../config/cluster/cluster.ts';
import type { BlockDevice, Partition } from '../../host/disk.ts';

type SavePartitions = Installation['savePartitions'];

/** Partitions of a disk that coreos-installer will keep, and the filters that match none. */
export interface KeptPartitions {
  readonly kept: readonly Partition[];
  readonly unmatched: readonly string[];
}

/**
 * Matches like coreos-installer (its blockdev.rs, matches_filters): a label is a
 * glob over the name in the GPT, not that of the file system; an index is a number
 * or a range that may be open at either end.
 */
export function keptPartitions(
  disk: Pick<BlockDevice, 'children' | 'pttype'>,
  { labels, indexes }: SavePartitions,
): KeptPartitions {
  // Other tables have no names, and coreos-installer keeps none of their partitions.
  const partitions = disk.pttype === 'gpt' ? (disk.children ?? []) : [];
  const filters = [
    ...labels.map((label) => ({ name: `label ${label}`, matches: byLabel(label) })),
    ...indexes.map((range) => ({ name: `index ${range}`, matches: byIndex(range) })),
  ];
  return {
    kept: partitions.filter((partition) => filters.some(({ matches }) => matches(partition))),
    unmatched: filters
      .filter(({ matches }) => !partitions.some(matches))
      .map((filter) => filter.name),
  };
}

/**
 * Without a match, coreos-installer silently keeps nothing: a misspelt label would
 * destroy the data that it was to save.
 */
export function requireKept(
  device: string,
  disk: Pick<BlockDevice, 'children' | 'pttype'>,
  { unmatched }: KeptPartitions,
): void {
  if (unmatched.length === 0) return;
  throw new Failure('fatal', `partitions to keep are not on ${device}`, {
    code: 'disk-kept-partitions',
    expected: `a partition for ${unmatched.join(' and for ')}`,
    found: whatIsThere(disk),
    fix: 'Correct the partitions to keep in install-config.yaml, or set the disk that has them.',
  });
}

function whatIsThere({ pttype, children = [] }: Pick<BlockDevice, 'children' | 'pttype'>): string {
  if (pttype === null) return 'no partition table';
  if (pttype !== 'gpt') return `a ${pttype} partition table, whose partitions cannot be kept`;
  const each = children.map(
    ({ number, partlabel }) => `${number ?? '?'} (${partlabel ?? 'no label'})`,
  );
  return each.length === 0 ? 'no partition' : `partitions ${each.join(', ')}`;
}

/** The glob of Rust's `glob` crate: `*`, `?` and `[...]`, case-sensitive, over the whole name. */
function byLabel(glob: string): (partition: Partition) => boolean {
  const pattern = new RegExp(`^${glob.replace(GLOB_PART, toPattern)}$`, 'su');
  return ({ partlabel }) => pattern.test(partlabel ?? '');
}

const GLOB_PART = /\[(!?)(\]?[^\]]*)\]|[\s\S]/gu;

function toPattern(part: string, not: string | undefined, members: string | undefined): string {
  if (part === '*') return '.*';
  if (part === '?') return '.';
  if (members === undefined || members === '') return part.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  return `[${not === '!' ? '^' : ''}${members.replace(/[\\[\]^]/g, '\\$&')}]`;
}

function byIndex(range: string): (partition: Partition) => boolean {
  const [first = '', last = first] = range.split('-');
  const least = first === '' ? 1 : Number(first);
  const most = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  return ({ number }) => number !== undefined && number >= least && number <= most;
}

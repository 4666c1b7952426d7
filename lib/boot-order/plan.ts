import type { BootEntry, BootTarget, BootVariables } from './efibootmgr.ts';

export interface WantedEntry extends BootTarget {
  readonly label: string;
}

export interface EntryPlan {
  /** The entry that already starts the disk; undefined: one has to be made. */
  readonly existing: string | undefined;
  /** Entries that would stand beside it for nothing. */
  readonly stale: readonly string[];
}

/**
 * Which entry starts the installed system, and which are left of earlier ones. Stale
 * are further entries for the same loader on the same partition, and those of the same
 * label and loader whose partition is on no disk of this host any more: writing the disk
 * gave it new ones. An entry of another disk's system is never touched.
 */
export function planEntries(
  { entries }: Pick<BootVariables, 'entries'>,
  wanted: WantedEntry,
  partitionsThere: ReadonlySet<string>,
): EntryPlan {
  const same = entries.filter(({ target }) => target !== undefined && isSame(target, wanted));
  const existing = same.find(({ active }) => active)?.number;
  const dangling = entries.filter(
    ({ label, target }) =>
      label === wanted.label &&
      target !== undefined &&
      isSameLoader(target, wanted) &&
      target.partition !== wanted.partition &&
      !partitionsThere.has(target.partition),
  );
  const stale = [...same, ...dangling]
    .map(({ number }) => number)
    .filter((number) => number !== existing);
  return { existing, stale };
}

/** The entry for this loader on this partition that the firmware would use, if there is one. */
export const entryFor = (entries: readonly BootEntry[], wanted: BootTarget): string | undefined =>
  entries.find(({ active, target }) => active && target !== undefined && isSame(target, wanted))
    ?.number;

/** The entry first, all others behind it in their order. */
export const orderWith = (entry: string, order: readonly string[]): string[] => [
  entry,
  ...order.filter((number) => number !== entry),
];

/**
 * Whether the next boot has to be named by itself: some firmware puts the medium back
 * to the front of the order as long as it is there.
 */
export const mediumIsFirst = ({ current, order }: BootVariables, entry: string): boolean =>
  current !== undefined && current !== entry && order[0] === current;

const isSame = (a: BootTarget, b: BootTarget) =>
  a.partition === b.partition && a.partitionNumber === b.partitionNumber && isSameLoader(a, b);

/** FAT and firmware take no notice of case. */
const isSameLoader = (a: BootTarget, b: BootTarget) =>
  a.loader.toLowerCase() === b.loader.toLowerCase();

import type { BootEntry, BootTarget, BootVariables } from './efibootmgr.ts';

export interface WantedEntry extends BootTarget {
  readonly label: string;
}

export interface EntryPlan {
  /** The entry that already boots the disk; if undefined, one must be created. */
  readonly existing: string | undefined;
  /** Redundant entries, to be deleted. */
  readonly stale: readonly string[];
}

/**
 * Which entry boots the installed system, and which entries are left over from
 * earlier installations. Stale are other entries for the same loader on the same
 * partition, and those with the same label and loader whose partition is no longer
 * on any disk of this host: writing the disk created new partitions. An entry for a
 * system on another disk is never touched.
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

/** The active entry for this loader on this partition, if there is one. */
export const entryFor = (entries: readonly BootEntry[], wanted: BootTarget): string | undefined =>
  entries.find(({ active, target }) => active && target !== undefined && isSame(target, wanted))
    ?.number;

/**
 * The entry first, followed by the others in their order. Firmware may keep numbers in the order
 * whose entries are gone; efibootmgr refuses an order that names one.
 */
export const orderWith = (
  entry: string,
  variables: Pick<BootVariables, 'order' | 'entries'>,
): string[] => [...new Set([entry, ...existingOrder(variables)])];

/**
 * Whether BootNext must be set: some firmware moves the medium back to the front of
 * the order as long as it is present.
 */
export const mediumIsFirst = (variables: BootVariables, entry: string): boolean =>
  variables.current !== undefined &&
  variables.current !== entry &&
  existingOrder(variables)[0] === variables.current;

/** What the firmware tries: it passes over a number without an entry. */
function existingOrder({ order, entries }: Pick<BootVariables, 'order' | 'entries'>): string[] {
  const there = new Set(entries.map(({ number }) => number));
  return order.filter((number) => there.has(number));
}

const isSame = (a: BootTarget, b: BootTarget) =>
  a.partition === b.partition && a.partitionNumber === b.partitionNumber && isSameLoader(a, b);

/** FAT and firmware ignore case. */
const isSameLoader = (a: BootTarget, b: BootTarget) =>
  a.loader.toLowerCase() === b.loader.toLowerCase();

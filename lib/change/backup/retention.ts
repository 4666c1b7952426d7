/** A backup as the retention sees it. */
export interface StoredBackup {
  readonly name: string;
  readonly at: Date;
  readonly bytes: number;
  /** It has a manifest, and all files have the sizes in it. */
  readonly isComplete: boolean;
  /** Of etcd, if it is complete: the clock may have been wrong, but revisions only increase. */
  readonly revision?: number | undefined;
}

export interface RetentionLimits {
  readonly count: number;
  readonly ageMs: number;
  /** All backups together. */
  readonly bytes: number;
}

type Dated = StoredBackup & { readonly atMs: number };

/**
 * By revision where possible. `atMs`: no complete backup counts as older than an earlier one, so that
 * one made with a slow clock is not deleted for its age.
 */
function newestFirst(backups: readonly StoredBackup[]): Dated[] {
  let latest = Number.NEGATIVE_INFINITY;
  const dated = backups
    .toSorted((a, b) => (a.revision ?? 0) - (b.revision ?? 0) || a.at.getTime() - b.at.getTime())
    .map((backup) => {
      const atMs = backup.at.getTime();
      if (!backup.isComplete) return { ...backup, atMs };
      latest = Math.max(latest, atMs);
      return { ...backup, atMs: latest };
    });
  return dated.toReversed().toSorted((a, b) => b.atMs - a.atMs);
}

/** The one to restore or to store, whatever the clock was when it was made. */
export const newestComplete = (backups: readonly StoredBackup[]): StoredBackup | undefined =>
  newestFirst(backups).find(({ isComplete }) => isComplete);

/**
 * The backups to delete: those beyond any limit, and damaged ones older than the newest complete
 * one. The newest complete one is never among them.
 *
 * Ages are those at the time of the complete backup before the newest one: a clock that jumps ahead
 * ends the life of no backup in the run that notices it, and a host that was off for long keeps what
 * it has for another day.
 */
export function expiredBackups(
  backups: readonly StoredBackup[],
  limits: RetentionLimits,
): StoredBackup[] {
  const sorted = newestFirst(backups);
  const [newest, previous] = sorted.filter(({ isComplete }) => isComplete);
  let kept = newest === undefined ? 0 : 1;
  let bytes = newest?.bytes ?? 0;
  return sorted.filter((backup) => {
    if (backup === newest) return false;
    const isSuperseded = !backup.isComplete && newest !== undefined && backup.atMs < newest.atMs;
    const isBeyond =
      kept + 1 > limits.count ||
      bytes + backup.bytes > limits.bytes ||
      (previous !== undefined && previous.atMs - backup.atMs > limits.ageMs);
    if (isSuperseded || isBeyond) return true;
    kept += 1;
    bytes += backup.bytes;
    return false;
  });
}

/**
 * The backups to delete, oldest first, so that `missing` bytes become free; undefined if that is
 * not enough without the newest complete one.
 */
export function makingRoom(
  backups: readonly StoredBackup[],
  missing: number,
): StoredBackup[] | undefined {
  const sorted = newestFirst(backups);
  const newest = sorted.find(({ isComplete }) => isComplete);
  const chosen: StoredBackup[] = [];
  let freed = 0;
  for (const backup of sorted.toReversed()) {
    if (freed >= missing) break;
    if (backup === newest) continue;
    chosen.push(backup);
    freed += backup.bytes;
  }
  return freed >= missing ? chosen : undefined;
}

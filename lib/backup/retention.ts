/** A backup as the retention sees it. */
export interface StoredBackup {
  readonly name: string;
  readonly at: Date;
  readonly bytes: number;
  /** It has a manifest, and all files have the sizes in it. */
  readonly isComplete: boolean;
}

export interface RetentionLimits {
  readonly count: number;
  readonly ageMs: number;
  /** All backups together. */
  readonly bytes: number;
}

const newestFirst = (backups: readonly StoredBackup[]) =>
  backups.toSorted((a, b) => b.at.getTime() - a.at.getTime());

/**
 * The backups to delete: those beyond any limit, and damaged ones older than the newest complete
 * one. The newest complete one is never among them.
 */
export function expiredBackups(
  backups: readonly StoredBackup[],
  limits: RetentionLimits,
  now: Date,
): StoredBackup[] {
  const sorted = newestFirst(backups);
  const newest = sorted.find(({ isComplete }) => isComplete);
  let kept = newest === undefined ? 0 : 1;
  let bytes = newest?.bytes ?? 0;
  return sorted.filter((backup) => {
    if (backup === newest) return false;
    const isSuperseded = !backup.isComplete && newest !== undefined && backup.at < newest.at;
    const isBeyond =
      kept + 1 > limits.count ||
      bytes + backup.bytes > limits.bytes ||
      now.getTime() - backup.at.getTime() > limits.ageMs;
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

import { minutes } from './units.ts';

/** Backups: sno-backup, sno-backup-push, sno-backup-restore. */
export const backupSettings = {
  /** sno-backup: the snapshot, its check and the copies of the keys. */
  backupMs: minutes(20),
  /** sno-backup-push: storing a backup elsewhere and reading it back, with all attempts of one run. */
  backupPushMs: minutes(120),
  /** sno-backup: most backups kept; a whole number. The newest complete one is never deleted. */
  backupKeepCount: 7,
  /** sno-backup: age at which a backup is deleted. */
  backupKeepDays: 30,
  /** sno-backup: most of the disk for all backups together, at most 100. */
  backupDiskSharePercent: 20,
  /** sno-backup: what stays free on the disk; with less, no backup is made. */
  backupMinFreeMiB: 1024,
  /** sno-backup restore: reading the backup, and rebuilding the database beside the one in use. */
  restoreRebuildMs: minutes(20),
  /** sno-backup restore: until no container of the control plane is running. */
  restoreStopMs: minutes(5),
  /** sno-backup-restore: the database to be replaced. */
  restoreReplaceMs: minutes(2),
  /** sno-backup restore: until the API is ready with the restored database. */
  restoreStartMs: minutes(10),
  /** sno-backup-restore: the steady state; after that the restore is undone. */
  restoreSettleMs: minutes(15),
  /** sno-backup restore: until the database from before is back in use. */
  restoreUndoMs: minutes(20),
  /** sno-backup restore: how many of the replaced databases are kept beside the one in use. */
  restoreKeepCount: 2,
} as const;

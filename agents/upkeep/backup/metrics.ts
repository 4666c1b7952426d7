import { listBackups, newestBackup } from '../../../lib/change/backup/store.ts';
import { type Sample, sample } from '../../../lib/engine/metrics/metrics.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

const STATES = ['complete', 'damaged', 'newer'] as const;

/** How many backups there are, and how old the newest one is that can be restored. */
export async function backupMetrics(paths: HostPaths): Promise<Sample[]> {
  const all = await listBackups(paths);
  const newest = newestBackup(all);
  return [
    ...STATES.map((state) =>
      sample('sno_backups', { state }, all.filter((each) => each.state === state).length),
    ),
    ...(newest === undefined
      ? []
      : [
          sample('sno_backup_newest_timestamp_seconds', {}, new Date(newest.at)),
          sample('sno_backup_newest_size_bytes', {}, newest.bytes),
        ]),
  ];
}

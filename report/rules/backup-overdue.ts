import type { Rule } from '../bundle-view.ts';
import { whereSaid } from '../reading/evidence.ts';
import { hostFiles } from '../reading/hosts.ts';
import { listAt, msAt, textAt } from '../reading/values.ts';
import { duration } from '../reading/words.ts';

/** Backups are daily; a host may be off for a weekend. */
const OVERDUE_MS = 3 * 86_400_000;

/** `agents/backups.json` is what `sno-backup list --json` prints. */
export const backupOverdue: Rule = {
  name: 'backup-overdue',
  looksFor: 'an installed host whose newest complete backup is more than three days old',
  todo: 'Run "sno-backup create", and see "journalctl -u sno-backup" and "systemctl list-timers sno-backup".',
  find(view) {
    return hostFiles(view, 'agents/backups.json').flatMap((file) => {
      const complete = listAt(view.json(file), 'backups')
        .filter((backup) => textAt(backup, 'state') === 'complete')
        .flatMap((backup) => msAt(backup, 'at') ?? [])
        // One from the future was made with a wrong clock.
        .filter((at) => at <= view.atMs);
      const newest = complete.length === 0 ? undefined : Math.max(...complete);
      const record = file.replace('backups.json', 'record.json');
      const since = newest ?? msAt(view.json(record), 'completed');
      if (since === undefined || view.atMs - since <= OVERDUE_MS) return [];
      const age = duration(view.atMs - since);
      return [
        {
          severity: 'warning',
          title:
            newest === undefined
              ? `There is no complete backup of etcd, ${age} after the installation`
              : `The newest complete backup of etcd is ${age} old`,
          evidence: whereSaid(view, file, newest === undefined ? '"backups"' : '"at"'),
        },
      ];
    });
  },
};

import type { Rule } from '../bundle-view.ts';
import { factsOf, fixOf } from '../reading/failure.ts';
import { aboutFailure, stepFailures } from '../reading/steps.ts';

const TITLES: Readonly<Record<string, string>> = {
  'sno-backup': 'The last backup failed',
  'sno-backup-push': 'The newest backup was not stored elsewhere',
  'sno-backup-restore': 'The last restore of a backup failed',
};

/** sno-backup runs daily, sno-backup-push after it, sno-backup-restore on request (agents/upkeep/backup/). */
export const backupFailed: Rule = {
  name: 'backup-failed',
  looksFor:
    'a backup that could not be made, stored elsewhere or restored: the last entries of the step journals of sno-backup, sno-backup-push and sno-backup-restore',
  codes: ['backup-no-space', 'backup-not-stored', 'backup-unusable', 'restore-undone'],
  todo: 'Fix the cause, then run "sno-backup create" or "sno-backup restore" again. Earlier backups are unchanged.',
  find(view) {
    return stepFailures(view).flatMap((failed) => {
      const title = TITLES[failed.agent];
      // Of one that is being retried, step-failed says so.
      if (title === undefined || !failed.isFinal) return [];
      const { failure } = failed;
      return [
        {
          ...aboutFailure(failed),
          title: `${title}: ${factsOf(failure)}`,
          todo: fixOf(failure) ?? this.todo,
        },
      ];
    });
  },
};

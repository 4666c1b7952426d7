import { Failure } from '../../../lib/base/errors/failure.ts';
import { json, M, type RuleCase, step } from './rule-case.ts';
import { NOW } from './view.ts';

const NO_SPACE = new Failure('fatal', 'the disk has no room for a backup', {
  code: 'backup-no-space',
  fix: 'Delete what is not needed, and run "sno-backup create".',
});
const UNDONE = new Failure('fatal', 'the backup 20261101T010000Z could not be restored', {
  code: 'restore-undone',
});
const FULL = new Failure('fatal', 'https://store.example/b/x.age cannot be stored', {
  code: 'backup-not-stored',
  found: 'status 507',
  fix: 'Free space on the store, or have it delete old backups.',
});
const DAY_MS = 86_400_000;
const at = (daysAgo: number) => new Date(NOW - daysAgo * DAY_MS).toISOString();
const backups = (...list: readonly [daysAgo: number, state: string][]) =>
  json({ backups: list.map(([days, state]) => ({ at: at(days), state })) });
const RETRYING = {
  [`${M}/steps/sno-backup.jsonl`]: step('15:00:02', 'create', 'attempt-failed', 'not yet'),
  [`${M}/steps/sno-backup-restore.jsonl`]: [
    step('15:01:02', 'settle', 'attempt-failed', 'not yet'),
    step('15:01:04', 'settle', 'started'),
  ].join(''),
};

export const backupCases: readonly RuleCase[] = [
  {
    rule: 'backup-failed',
    of: 'a disk without room, and a restore that was undone',
    files: {
      [`${M}/steps/sno-backup.jsonl`]: step('15:00:02', 'create', 'failed', NO_SPACE),
      [`${M}/steps/sno-backup-restore.jsonl`]: step('15:01:02', 'conclude', 'failed', UNDONE),
    },
    finds: [
      {
        severity: 'failing',
        title: /^The last restore of a backup failed: .*20261101T010000Z/,
        todo: /Earlier backups/,
        at: `${M}/steps/sno-backup-restore.jsonl:1`,
      },
      {
        severity: 'failing',
        title: /^The last backup failed: the disk has no room/,
        todo: /^Delete what is not needed/,
      },
    ],
  },
  {
    rule: 'backup-failed',
    of: 'a store that is full',
    files: { [`${M}/steps/sno-backup-push.jsonl`]: step('15:00:02', 'push', 'failed', FULL) },
    finds: [
      {
        severity: 'failing',
        title: /^The newest backup was not stored elsewhere: .*cannot be stored.*507/,
        todo: /^Free space on the store/,
        at: `${M}/steps/sno-backup-push.jsonl:1`,
      },
    ],
  },
  {
    rule: 'backup-failed',
    of: 'a backup that worked at last, and the failure of another agent',
    files: {
      [`${M}/steps/sno-backup.jsonl`]: [
        step('15:00:02', 'create', 'failed', NO_SPACE),
        step('15:10:00', 'create', 'done'),
      ].join(''),
      [`${M}/steps/sno-renew.jsonl`]: step('15:00:02', 'create', 'failed', NO_SPACE),
    },
  },
  {
    rule: 'backup-failed',
    of: 'a backup and a restore that are still running',
    files: RETRYING,
  },
  {
    rule: 'step-failed',
    of: 'a backup and a restore that are still running',
    files: RETRYING,
    finds: [
      {
        severity: 'warning',
        title: /^sno-backup-restore is retrying step settle/,
        todo: /The agent retries automatically\.$/,
      },
      {
        severity: 'warning',
        title: /^sno-backup is retrying step create/,
        todo: /The agent retries automatically\.$/,
      },
    ],
  },
  {
    rule: 'backup-overdue',
    of: 'a newer backup that is damaged',
    files: { [`${M}/agents/backups.json`]: backups([5, 'complete'], [1, 'damaged']) },
    finds: [{ severity: 'warning', title: /^The newest complete backup of etcd is 5 days/ }],
  },
  {
    rule: 'backup-overdue',
    of: 'a newer one that was made with a fast clock',
    files: { [`${M}/agents/backups.json`]: backups([5, 'complete'], [-900, 'complete']) },
    finds: [{ severity: 'warning', title: /^The newest complete backup of etcd is 5 days/ }],
  },
  {
    rule: 'backup-overdue',
    of: 'a host without a backup, installed last week',
    files: {
      [`${M}/agents/backups.json`]: backups(),
      [`${M}/agents/record.json`]: json({ completed: at(7) }),
    },
    finds: [{ severity: 'warning', title: /^There is no complete backup .*, 7 days/ }],
  },
  {
    rule: 'backup-overdue',
    of: 'a backup of the day before yesterday',
    files: { [`${M}/agents/backups.json`]: backups([9, 'complete'], [2, 'complete']) },
  },
  {
    rule: 'backup-overdue',
    of: 'a host without a backup, installed today',
    files: {
      [`${M}/agents/backups.json`]: backups(),
      [`${M}/agents/record.json`]: json({ completed: at(1) }),
    },
  },
];

import { tableLines } from '../../../lib/base/table.ts';
import type { BackupList } from '../../../lib/change/backup/store.ts';

const TITLES = ['NAME', 'STATE', 'SIZE', 'REVISION', 'VERSION'];
const MIB = 2 ** 20;

/** For people, oldest first. */
export function backupTable({ backups, folder }: BackupList): string {
  if (backups.length === 0) return `no backup in ${folder}\n`;
  const rows = backups.map(({ name, state, bytes, revision, version, problem }) => [
    name,
    state,
    `${Math.ceil(bytes / MIB)} MiB`,
    String(revision ?? '-'),
    version ?? problem ?? '-',
  ]);
  return `${tableLines([TITLES, ...rows]).join('\n')}\n`;
}

import { join } from 'node:path';
import { BACKUP_TO } from '../../lib/change/backup/push/backup-to.ts';
import { MAX_BACKUP_TO_BYTES, parseBackupTo } from '../../lib/change/backup/push/read-backup-to.ts';
import { textBeside } from './text-beside.ts';

/**
 * The backup-to.json of a folder with site-config.yaml or install-config.yaml, as it goes to the host; undefined if it has
 * none. It may have a key or a token.
 *
 * @throws Failure (usage) that names the file and each field with a fault
 */
export async function readBackupTo(dir: string): Promise<string | undefined> {
  const path = join(dir, BACKUP_TO);
  const text = await textBeside(path, MAX_BACKUP_TO_BYTES);
  if (text !== undefined) parseBackupTo(text, path);
  return text;
}

import { join } from 'node:path';
import { backupName, timeOfBackup } from '../../../lib/change/backup/manifest.ts';
import { backupsFolder } from '../../../lib/change/backup/store.ts';
import { restoreFolder } from '../../../lib/change/restore/request.ts';
import type { RestoreContext } from './context.ts';

type Request = Pick<RestoreContext, 'paths' | 'request'>;

/** The backup that is restored. */
export const backupPath = ({ paths, request }: Request) =>
  join(backupsFolder(paths), request.backup);

/** The manifests of the static pods while the control plane is stopped. */
export const movedManifests = ({ paths }: Pick<Request, 'paths'>) =>
  join(restoreFolder(paths), 'manifests');

/** The encryption configuration from before, if it was changed. */
export const savedEncryption = ({ paths }: Pick<Request, 'paths'>) =>
  join(restoreFolder(paths), 'encryption.yaml');

/** The database from the backup, until it replaces the present one. */
export const rebuiltDatabase = ({ paths }: Pick<Request, 'paths'>) => `${paths.etcdData}.rebuilt`;

/** The restored database after it was given up, until it is deleted. */
export const discardedDatabase = ({ paths }: Pick<Request, 'paths'>) =>
  `${paths.etcdData}.discarded`;

const REPLACED = '.replaced-';

/** The database from before, by the time of the request. It is beside the one in use: on the same file system. */
export const replacedDatabase = ({ paths, request }: Request) =>
  `${paths.etcdData}${REPLACED}${backupName(new Date(request.requestedAt))}`;

/** Whether that is the name of a replaced database beside `database`. */
export const isReplaced = (name: string, database: string): boolean =>
  name.startsWith(`${database}${REPLACED}`) &&
  timeOfBackup(name.slice(database.length + REPLACED.length)) !== undefined;

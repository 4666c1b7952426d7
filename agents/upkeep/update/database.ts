import { Failure } from '../../../lib/base/errors/failure.ts';
import { listBackups, newestBackup } from '../../../lib/change/backup/store.ts';
import type { UpdateRequest } from '../../../lib/change/update/request.ts';
import { minorsChanged } from '../../../lib/change/update/successor.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/** Whose minor version an update changes. */
export const changedMinors = ({ before, manifest }: Pick<UpdateRequest, 'before' | 'manifest'>) =>
  before === undefined ? [] : minorsChanged(manifest.payload.versions, before);

/**
 * Whether a way back needs the database from before. etcd cannot read a database that its next minor version has had open for
 * some seconds. A Kubernetes that emulates the earlier version writes what that version can read; and add-ons are
 * put back by their manifests (add-ons-back.ts). So what workloads write is kept wherever possible.
 */
export const databaseGoesBack = (request: Pick<UpdateRequest, 'before' | 'manifest'>): boolean =>
  changedMinors(request).includes('etcd');

/**
 * The backup to go back to; undefined if the way back leaves the database as it is.
 *
 * @throws Failure (fatal) if it is needed and there is none: the files would go back without the database
 */
export async function backupToReturnTo(
  paths: HostPaths,
  request: UpdateRequest,
  earlier: readonly string[],
): Promise<string | undefined> {
  if (!databaseGoesBack(request)) return undefined;
  const made = (await listBackups(paths)).filter(({ name }) => !earlier.includes(name));
  const name = newestBackup(made)?.name;
  if (name !== undefined) return name;
  throw new Failure('fatal', 'there is no backup of etcd to go back to', {
    expected: 'the backup that was made for this update, complete',
    fix: 'Nothing was changed. Run "sno-update run" again.',
  });
}

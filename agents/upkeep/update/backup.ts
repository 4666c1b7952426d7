import { Failure } from '../../../lib/base/errors/failure.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import type { UpdateRequest } from '../../../lib/change/update/request.ts';
import { minorsChanged } from '../../../lib/change/update/successor.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { create } from '../../steps/backup/create.ts';
import type { UpdateContext } from './context.ts';
import { loadPrepared } from './prepare.ts';

/**
 * Makes a backup of etcd if the update changes objects in it, the add-ons, or the minor version of what reads and writes it.
 * Between two patch releases there is nothing to go back to: both read the same database.
 */
export const backup: StepBody<UpdateContext> = {
  name: 'backup',
  leaves: 'a backup of etcd, if add-ons or a minor version change',
  touches: ['disk', 'etcd', 'clock'],
  neededUntil: 'switch',
  input: ({ request }) => request.id,
  holds: async (context, progress) =>
    !(await needsBackup(context)) || (await create.holds(context, progress)),
  async run(context, progress) {
    if (!(await needsBackup(context))) return done('the database does not change');
    return create.run(context, progress);
  },
};

const needsBackup = async (context: UpdateContext): Promise<boolean> =>
  changedMinors(context.request).length > 0 || (await loadPrepared(context)).manifests.length > 0;

/** Whose minor version an update changes. */
export const changedMinors = ({ before, manifest }: Pick<UpdateRequest, 'before' | 'manifest'>) =>
  before === undefined ? [] : minorsChanged(manifest.payload.versions, before);

/**
 * Whether a way back needs the database from before. An etcd reads nothing that the next minor version has had open for
 * some seconds. What another Kubernetes has written while it emulates the earlier one, that one reads; and add-ons are
 * put back by their manifests (add-ons-back.ts). So what workloads write stays wherever it can.
 */
export const databaseGoesBack = (request: Pick<UpdateRequest, 'before' | 'manifest'>): boolean =>
  changedMinors(request).includes('etcd');

/**
 * The backup to go back to; undefined if the way back leaves the database as it is.
 *
 * @throws Failure (fatal) if it is needed and there is none: the files would go back without the database
 */
export async function backupToReturnTo(context: UpdateContext): Promise<string | undefined> {
  if (!databaseGoesBack(context.request)) return undefined;
  const made = (await listBackups(context.paths)).filter(
    ({ name, state }) => state === 'complete' && !context.earlier.includes(name),
  );
  const name = made.at(-1)?.name;
  if (name !== undefined) return name;
  throw new Failure('fatal', 'there is no backup of etcd to go back to', {
    expected: 'the backup that was made for this update, complete',
    fix: 'Nothing was changed. Run "sno-update run" again.',
  });
}

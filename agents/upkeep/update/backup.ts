import { Failure } from '../../../lib/base/errors/failure.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { create } from '../../steps/backup/create.ts';
import type { UpdateContext } from './context.ts';
import { loadPrepared } from './prepare.ts';

/**
 * Makes a backup of etcd if the update changes objects in it: the add-ons. Otherwise there is nothing to go back
 * to: patch releases of one minor version read the same database, and what workloads write stays.
 */
export const backup: StepBody<UpdateContext> = {
  name: 'backup',
  leaves: 'a backup of etcd to go back to, if add-ons change',
  touches: ['disk', 'etcd', 'clock'],
  neededUntil: 'switch',
  input: ({ request }) => request.id,
  holds: async (context, progress) =>
    !(await changesDatabase(context)) || (await create.holds(context, progress)),
  async run(context, progress) {
    if (!(await changesDatabase(context))) return done('the database does not change');
    return create.run(context, progress);
  },
};

const changesDatabase = async (context: UpdateContext): Promise<boolean> =>
  (await loadPrepared(context)).manifests.length > 0;

/**
 * The backup to go back to; undefined if the database does not change.
 *
 * @throws Failure (fatal) if it changes and there is none: the files would go back without the database
 */
export async function backupToReturnTo(context: UpdateContext): Promise<string | undefined> {
  if (!(await changesDatabase(context))) return undefined;
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

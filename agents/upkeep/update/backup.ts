import type { ChangeStep } from '../../../lib/change/or-back.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { create } from '../../steps/backup/create.ts';
import type { UpdateContext } from './context.ts';
import { changedMinors } from './database.ts';
import { loadPrepared } from './prepare.ts';

/**
 * Makes a backup of etcd if the update changes objects in it, the add-ons, or the minor version of what reads and writes it.
 * Between two patch releases there is nothing to go back to: both read the same database.
 */
export const backup: ChangeStep<UpdateContext> = {
  name: 'backup',
  leaves: 'a backup of etcd, if add-ons or a minor version change',
  touches: ['disk', 'etcd', 'clock'],
  neededUntil: 'switch',
  holds: async (context, progress) =>
    !(await needsBackup(context)) || (await create.holds(context, progress)),
  async run(context, progress) {
    if (!(await needsBackup(context))) return done('the database does not change');
    return create.run(context, progress);
  },
};

const needsBackup = async (context: UpdateContext): Promise<boolean> =>
  changedMinors(context.request).length > 0 || (await loadPrepared(context)).manifests.length > 0;

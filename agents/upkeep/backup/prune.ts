import { expiredBackups } from '../../../lib/change/backup/retention.ts';
import { limitsOf } from '../../../lib/change/backup/room.ts';
import { deleteBackups, listBackups, storedBackups } from '../../../lib/change/backup/store.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import type { BackupContext } from '../../steps/backup/context.ts';

/** Deletes backups beyond the limits of the settings, never the newest complete one. */
export const prune: StepBody<BackupContext> = {
  name: 'prune',
  leaves: 'no backup beyond the limits of number, age and share of the disk',
  touches: ['disk', 'clock'],
  // Each run has a deadline of its own, also after a killed one.
  input: ({ run }) => run,
  holds: async (context) => (await expired(context)).length === 0,
  async run(context) {
    const names = await expired(context);
    await deleteBackups(context.paths, names);
    return done(names.length === 0 ? 'none was due' : `deleted ${names.join(', ')}`);
  },
};

async function expired({ paths, settings }: BackupContext): Promise<string[]> {
  const all = storedBackups(await listBackups(paths));
  const limits = await limitsOf(paths, settings);
  return expiredBackups(all, limits).map(({ name }) => name);
}

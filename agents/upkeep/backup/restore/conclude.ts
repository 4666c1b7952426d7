import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../../lib/base/errors/failure-data.ts';
import { type RestoreRequest, restoreChange } from '../../../../lib/change/restore/request.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { namesIn, syncDirectory } from '../../../../lib/host/files.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';
import { isReplaced, movedManifests, savedEncryption } from '../../../steps/restore/places.ts';
import { restartsPath } from '../../../steps/steady-state.ts';

/** Ends the request. After a failure, it reports what failed, so that the unit fails. */
export const concludeRestore: StepBody<RestoreContext> = {
  name: 'conclude',
  leaves: 'no restore under way; the newest databases from before beside the one in use',
  touches: ['disk'],
  retries: true,
  input: ({ request }) => request,
  holds: async ({ paths }) => (await restoreChange.read(paths)) === undefined,
  async run(context) {
    const { paths, settings, request } = context;
    const ended = await restoreChange.read(paths);
    await deleteOldest(paths.etcdData, settings.restoreKeepCount);
    await rm(movedManifests(context), { recursive: true, force: true });
    await rm(savedEncryption(context), { force: true });
    await rm(restartsPath(context, 'sno-backup-restore'), { force: true });
    await restoreChange.end(paths, (it) => it);
    if (ended?.failure === undefined) return done(`${request.backup} is restored`);
    throw undone(ended, failureFromData(ended.failure));
  },
};

/** Why a restore was undone, for the unit and for the person who requested it. */
export function undone({ backup, replacedNothing }: RestoreRequest, cause: Failure): Failure {
  const now =
    replacedNothing === true
      ? 'The host had no database before, so the restored one is in use.'
      : 'The database is as before.';
  return new Failure('fatal', `the backup ${backup} could not be restored`, {
    code: 'restore-undone',
    subject: backup,
    expected: 'a steady control plane with its database',
    found: describeError(cause),
    fix: `${now} Choose another backup, or remove the cause and restore it again.`,
    parts: [cause],
  });
}

async function deleteOldest(etcdData: string, keep: number): Promise<void> {
  const folder = dirname(etcdData);
  const replaced = (await namesIn(folder)).filter((name) => isReplaced(name, basename(etcdData)));
  for (const name of replaced.slice(0, Math.max(0, replaced.length - keep))) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
  await syncDirectory(folder);
}

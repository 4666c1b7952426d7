import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError } from '../../../../lib/base/errors/failure.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { done } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { exists, removeFile, syncDirectory } from '../../../../lib/host/files.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { readSecret, writeKeptFiles } from '../../../../lib/secrets/seal/files.ts';
import { awaitApi } from '../../../steps/await-api.ts';
import type { RestoreContext } from '../../../steps/restore/context.ts';
import {
  discardedDatabase,
  movedManifests,
  rebuiltDatabase,
  replacedDatabase,
  savedEncryption,
} from '../../../steps/restore/places.ts';
import { stopControlPlane } from '../../../steps/stop-control-plane.ts';
import { hasFailed } from './or-undo.ts';
import { arePlaced, placeControlPlane } from './start.ts';

/**
 * After a failure, puts the database and the keys from before back in use. Where there was no
 * database, the restored one stays: the host has no other.
 */
export const undo: StepBody<RestoreContext> = {
  name: 'undo',
  leaves: 'the restored database in use; after a failure, the one from before',
  touches: ['disk', 'etcd', 'api', 'runtime', 'systemd'],
  retries: true,
  input: ({ request }) => request,
  holds: async (context, progress) =>
    !(await hasFailed(context)) ||
    (!(await isChanged(context)) && (await arePlaced(context, progress))),
  async run(context, progress) {
    if (!(await hasFailed(context))) return done('the restore has not failed');
    await discardUnused(context);
    if (await isChanged(context)) {
      await stopControlPlane(context.paths, movedManifests(context), progress);
      await putBack(context);
    }
    if (await arePlaced(context, progress)) return done('nothing was changed');
    await placeControlPlane(context, progress);
    return done(await stateAfter(context, progress));
  },
};

/** Whether there is something to put back. A restored database that stays needs the keys of its backup. */
const isChanged = async (context: RestoreContext): Promise<boolean> =>
  (await exists(replacedDatabase(context))) ||
  (!(await hasNothingToPutBack(context)) && (await exists(savedEncryption(context))));

const hasNothingToPutBack = async ({ paths }: RestoreContext): Promise<boolean> =>
  (await restoreChange.read(paths))?.replacedNothing === true;

/** The database may have been restored because the one from before does not work. */
async function stateAfter(context: RestoreContext, progress: Progress): Promise<string> {
  const stays = await hasNothingToPutBack(context);
  const database = stays ? 'the restored database' : 'the database from before';
  try {
    await awaitApi(context, progress, context.settings.restoreStartMs);
    return `the API server is ready with ${database}`;
  } catch (error) {
    progress.signal.throwIfAborted();
    const reason = describeError(error);
    progress.warn(`The API server is not ready with ${database}: ${reason}`);
    return `${database} is in place`;
  }
}

async function putBack(context: RestoreContext): Promise<void> {
  const { paths, cluster } = context;
  const { etcdData } = paths;
  const [replaced, discarded] = [replacedDatabase(context), discardedDatabase(context)];
  if (await exists(replaced)) {
    // Not deleted in place: an interrupted attempt must not take the rest for a database.
    if (await exists(etcdData)) await rename(etcdData, discarded);
    await rename(replaced, etcdData);
    await discardUnused(context);
  }
  const saved = savedEncryption(context);
  if (!(await exists(saved))) return;
  const { encryption } = accessTo(cluster.controlPlane).backup;
  const contents = (await readSecret(paths, saved)) ?? '';
  await writeKeptFiles(paths, [{ path: encryption, contents, mode: 0o600 }]);
  await removeFile(saved);
}

/** Deletes the databases that nothing uses, durably: they are large, and nothing else would look for them. */
async function discardUnused(context: RestoreContext): Promise<void> {
  for (const unused of [rebuiltDatabase(context), discardedDatabase(context)]) {
    await rm(unused, { recursive: true, force: true });
  }
  await syncDirectory(dirname(context.paths.etcdData));
}

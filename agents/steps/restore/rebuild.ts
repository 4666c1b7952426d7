import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { DATABASE_FILE } from '../../../lib/change/backup/manifest.ts';
import { verifyBackup } from '../../../lib/change/backup/verify.ts';
import { stillRunning } from '../../../lib/change/exclusion.ts';
import { restoreSnapshot } from '../../../lib/clients/etcd/restore.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists } from '../../../lib/host/files.ts';
import { ownUser } from '../../../lib/host/process.ts';
import { accessTo } from '../../../lib/render/access.ts';
import type { RestoreContext } from './context.ts';
import { backupPath, rebuiltDatabase, replacedDatabase } from './places.ts';

/** Clients have seen later revisions than those of the backup: none of theirs may occur again. */
const BUMP_REVISION = 1_000_000_000;
/** The first segment of the log, which etcdutl allocates beside the database. */
const LOG_BYTES = 64 * 2 ** 20;

/**
 * Reads the whole backup again, and rebuilds the database beside the one in use. Until the end of
 * this step, nothing on the host has changed. A run of sno-backup could delete the backup, and one
 * of sno-renew needs the API: both end first.
 */
export const rebuild: StepBody<RestoreContext> = {
  name: 'rebuild',
  leaves: 'the database of the backup beside the one in use, with all revisions bumped',
  touches: ['disk', 'etcd'],
  neededUntil: 'replace',
  input: ({ request }) => request,
  holds: (context) => isRebuilt(context),
  async run(context, progress) {
    const { paths, cluster } = context;
    const running = await stillRunning(paths);
    if (running !== undefined) return running;
    const path = backupPath(context);
    const manifest = await progress.wait('the backup to be read', () =>
      verifyBackup(path, {
        clusterId: cluster.clusterId,
        owner: ownUser(),
        signal: progress.signal,
      }),
    );
    const database = manifest.files.find((file) => file.path === DATABASE_FILE);
    if (database === undefined) throw new Failure('bug', `${path} has no database`);
    await expectRoom(paths.etcdData, database.bytes + LOG_BYTES);
    await progress.wait('etcdutl to rebuild the database', () =>
      restoreSnapshot(join(path, DATABASE_FILE), rebuiltDatabase(context), {
        ...accessTo(cluster.controlPlane).etcd.member,
        expected: { sha256: database.sha256, revision: manifest.etcd.revision },
        bumpRevision: BUMP_REVISION,
        etcdutl: join(paths.binaries, 'etcdutl'),
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      }),
    );
    return done(`revision ${manifest.etcd.revision} of ${manifest.at}`);
  },
};

/** Either it waits for its use, or it is in use. */
const isRebuilt = async (context: RestoreContext): Promise<boolean> =>
  (await exists(rebuiltDatabase(context))) || (await exists(replacedDatabase(context)));

async function expectRoom(etcdData: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(etcdData));
  if (bavail * bsize >= bytes) return;
  throw new Failure('fatal', 'the disk has no room for the restored database', {
    code: 'backup-no-space',
    expected: `${bytes} bytes`,
    found: `${bavail * bsize} bytes free`,
    fix: 'Delete what is not needed, and restore the backup again.',
  });
}

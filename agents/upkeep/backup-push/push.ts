import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { encrypterFor } from '../../../lib/change/backup/portable/recipients.ts';
import { readPushState, writePushState } from '../../../lib/change/backup/push/state.ts';
import { type StoredFile, storedAt, storeFile } from '../../../lib/change/backup/push/store.ts';
import { requireRoom } from '../../../lib/change/backup/room.ts';
import { type ListedBackup, listBackups, newestBackup } from '../../../lib/change/backup/store.ts';
import { changeUnderWay } from '../../../lib/change/exclusion.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, notYet, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { sha256OfFile } from '../../../lib/host/files.ts';
import { withWorkFolder } from '../../../lib/host/work-folder.ts';
import { exportBackup } from '../../steps/backup/export.ts';
import { leftOf, pauseAfter } from '../../steps/pauses.ts';
import type { PushContext } from './context.ts';

const PAUSES = { longestMs: 600_000, marginMs: 15_000 };

/**
 * Stores the newest backup elsewhere, encrypted for the recipients, and reads it back. The backup itself is on the host
 * whatever becomes of this.
 */
export const push: StepBody<PushContext> = {
  name: 'push',
  leaves: 'the newest backup, encrypted, where backup-to.json says, read back and compared',
  touches: ['disk', 'clock', 'network'],
  retries: true,
  input: ({ run }) => run,
  async holds(context) {
    const newest = await newestOf(context);
    return newest === undefined || (await isStored(context, newest));
  },
  async run(context, progress) {
    // Of a run that was killed: as large as a backup.
    await rm(workFolder(context), { recursive: true, force: true });
    const newest = await newestOf(context);
    if (newest === undefined) return done('there is no backup yet');
    if (await isStored(context, newest)) return done(`${newest.name} is stored already`);
    // What goes with a backup is being replaced.
    const underWay = await changeUnderWay(context.paths);
    if (underWay !== undefined) return notYet(underWay.what);
    try {
      return await pushBackup(context, newest, progress);
    } catch (error) {
      progress.signal.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      throw await recorded(context, newest, error);
    }
  },
};

const workFolder = ({ paths }: PushContext): string => join(paths.state, 'sno-backup-push', 'work');

const newestOf = async ({ paths }: PushContext): Promise<ListedBackup | undefined> =>
  newestBackup(await listBackups(paths));

async function isStored({ paths, target }: PushContext, { name }: ListedBackup): Promise<boolean> {
  const state = await readPushState(paths);
  return state?.target === target && state.stored?.name === name && state.failed === undefined;
}

async function pushBackup(
  context: PushContext,
  { name, bytes: room }: ListedBackup,
  progress: Progress,
): Promise<Outcome> {
  const { paths, settings, to, target, hostname, cluster } = context;
  await requireRoom(paths, settings, room);
  return withWorkFolder(workFolder(context), async (folder) => {
    const path = join(folder, 'backup.age');
    const exported = { target: path, encrypter: encrypterFor(to.recipients) };
    const { bytes, settingsFault } = await exportBackup(paths, name, exported, progress.signal);
    if (settingsFault !== undefined) {
      progress.warn(
        `Of the settings of this host, only what is sound is in the backup: ${describeError(settingsFault)}`,
      );
    }
    // One that began meanwhile: the file may have parts of both sides of it.
    const underWay = await changeUnderWay(paths);
    if (underWay !== undefined) return notYet(underWay.what);
    const file = { path, bytes, sha256: await sha256OfFile(path, progress.signal) };
    // Of any number of hosts in one folder: by name for people, by its cluster for good.
    const object = `${hostname}-${cluster.clusterId}-${name}.age`;
    await storeInTime(context, object, file, progress);
    const stored = { name, at: new Date().toISOString(), url: storedAt(to, object), bytes };
    await writePushState(paths, {
      ...{ schemaVersion: 1, target },
      stored: { ...stored, sha256: file.sha256 },
    });
    return done(`${stored.url}, ${Math.ceil(bytes / 2 ** 20)} MiB`);
  });
}

/** Tries again, later and later, while that may help and there is time. */
async function storeInTime(
  { paths, to, cluster: { proxy } }: PushContext,
  object: string,
  file: StoredFile,
  progress: Progress,
): Promise<void> {
  for (let failed = 1; ; failed += 1) {
    try {
      return await progress.wait('the store', () =>
        storeFile(to, object, file, {
          ...{ signal: progress.signal, deadlineMs: leftOf(progress, PAUSES) },
          work: join(paths.run, 'sno-backup-push', 'request'),
          ...(proxy === undefined ? {} : { proxy }),
        }),
      );
    } catch (error) {
      progress.signal.throwIfAborted();
      if (!(error instanceof Failure) || error.kind !== 'retry') throw error;
      const pause = pauseAfter(failed, PAUSES);
      if (leftOf(progress, PAUSES) < pause) throw error;
      progress.warn(`The backup was not stored, and is sent again: ${error.message}`);
      await progress.wait('the store to answer', () =>
        sleep(pause, undefined, { signal: progress.signal }),
      );
    }
  }
}

/** Notes why the backup is not stored. The next attempt is the timer's, whatever the reason: the step does not repeat it. */
async function recorded(
  { paths, target }: PushContext,
  { name }: ListedBackup,
  failure: Failure,
): Promise<Failure> {
  const state = await readPushState(paths);
  const earlier = state?.target === target ? state : undefined;
  const at = new Date().toISOString();
  const { expected, found, fix = 'See "journalctl -u sno-backup-push".' } = failure.details;
  const failed = {
    ...{ since: earlier?.failed?.since ?? at, at, name, what: failure.what, fix },
    ...(found === undefined ? {} : { found }),
  };
  const stored = earlier?.stored === undefined ? {} : { stored: earlier.stored };
  await writePushState(paths, { schemaVersion: 1, target, ...stored, failed });
  return new Failure('fatal', failure.what, {
    ...{ code: 'backup-not-stored', subject: name, expected, found, fix, cause: failure },
    tellsCause: true,
  });
}

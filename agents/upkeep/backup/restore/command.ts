import { basename, join } from 'node:path';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../../lib/base/errors/failure-data.ts';
import type { BackupManifest } from '../../../../lib/change/backup/manifest.ts';
import { backupsFolder } from '../../../../lib/change/backup/store.ts';
import { verifyBackup } from '../../../../lib/change/backup/verify.ts';
import { confirm } from '../../../../lib/change/confirm.ts';
import { beginChange, changeUnderWay } from '../../../../lib/change/exclusion.ts';
import { type RestoreRequest, restoreChange } from '../../../../lib/change/restore/request.ts';
import { startAndFollow } from '../../../../lib/change/start-and-follow.ts';
import { readCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { ownUser } from '../../../../lib/host/process.ts';
import { undone } from './conclude.ts';

const UNIT = 'sno-backup-restore.service';

interface RestoreOptions {
  /** Name of the backup. */
  readonly from: string;
  readonly isConfirmed: boolean;
  /** False for `--no-wait`. */
  readonly isWaited: boolean;
}

/**
 * Verifies a backup, asks, requests its restore and, unless told otherwise, waits for the end. A restore that is under way
 * for the same backup is continued.
 *
 * @throws Failure (usage) if the backup cannot be used, another restore or a rotation is under way, or
 *   nobody confirmed; nothing was changed. Failure (fatal, `restore-undone`) if it failed.
 */
export async function requestRestore(
  paths: HostPaths,
  { from, isConfirmed, isWaited }: RestoreOptions,
  write: (text: string) => void,
): Promise<void> {
  const backup = nameOf(paths, from);
  const request = await resumable(paths, backup);
  if (request === undefined) {
    const underWay = await changeUnderWay(paths, 'restore');
    if (underWay !== undefined) throw underWay;
    const manifest = await verifyBackup(join(backupsFolder(paths), backup), {
      clusterId: (await readCluster(paths)).clusterId,
      owner: ownUser(),
      signal: new AbortController().signal,
    });
    write(announcement(backup, manifest));
    if (!isConfirmed) await confirm('restore it', 'the restore');
  }
  const begun: RestoreRequest = request ?? {
    schemaVersion: 1,
    backup,
    requestedAt: new Date().toISOString(),
  };
  if (request === undefined) await beginChange(paths, () => restoreChange.write(paths, begun));
  const result = await startAndFollow(
    restoreChange,
    paths,
    {
      agent: 'sno-backup-restore',
      what: 'the restore',
      isContinued: request !== undefined,
      isWaited,
      isIts: ({ requestedAt }) => requestedAt === begun.requestedAt,
    },
    write,
  );
  if (result?.failure !== undefined) throw undone(result, failureFromData(result.failure));
  if (result !== undefined) write(`${backup} is restored.\n`);
}

/** A name, or the path of a backup of this host. */
function nameOf(paths: HostPaths, from: string): string {
  const name = basename(from);
  const folder = paths.onHost(backupsFolder(paths));
  if (from === name || from.replace(/\/+$/, '') === `${folder}/${name}`) return name;
  throw new Failure('usage', `--from ${from} is not a backup of this host`, {
    expected: `a name that "sno-backup list" prints, or a folder in ${folder}`,
    fix: `Copy it to ${folder}/.${name} as root, with "cp -r --preserve=mode", and rename it to ${name}.`,
  });
}

async function resumable(paths: HostPaths, backup: string): Promise<RestoreRequest | undefined> {
  const request = await restoreChange.read(paths);
  if (request === undefined || request.backup === backup) return request;
  throw new Failure('usage', `the restore of another backup is under way: ${request.backup}`, {
    fix: `Run "systemctl start ${UNIT}" to continue it.`,
  });
}

const announcement = (backup: string, { at, etcd }: BackupManifest): string =>
  `The backup ${backup} of ${at} (revision ${etcd.revision}) is complete.
Everything that was written to the cluster since then will be lost. The API is
unavailable for some minutes; the containers of workloads go on.
`;

import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { BackupManifest } from '../../../../lib/change/backup/manifest.ts';
import type { AcceptedAuthor } from '../../../../lib/change/backup/portable/author.ts';
import { missingAuthorities } from '../../../../lib/change/backup/portable/authorities.ts';
import { importBackup } from '../../../../lib/change/backup/portable/import.ts';
import { confirm } from '../../../../lib/change/confirm.ts';
import { beginChange, changeUnderWay } from '../../../../lib/change/exclusion.ts';
import { differences, identityOf } from '../../../../lib/change/identity/identity.ts';
import { presentIdentity } from '../../../../lib/change/identity/present-identity.ts';
import {
  type IdentityRequest,
  identityChange,
  requestIdentity,
} from '../../../../lib/change/identity/request.ts';
import { startAndFollow } from '../../../../lib/change/start-and-follow.ts';
import { readCluster } from '../../../../lib/config/cluster/read-cluster.ts';
import { exists } from '../../../../lib/host/files.ts';
import { requireRegularFile } from '../../../../lib/host/given-file.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { readSettings } from '../../../../lib/host/settings.ts';

/** Options of `sno-backup restore --new-host`. */
export interface NewHostOptions {
  /** The file that "sno-backup create --to" wrote. */
  readonly backup: string;
  /** Path of the key file of a recipient. */
  readonly identity: string;
  readonly author: AcceptedAuthor;
  /** Take over the authorities of the lost host: what they have signed stays good. */
  readonly keepsAuthorities: boolean;
  readonly isConfirmed: boolean;
  /** False for `--no-wait`. */
  readonly isWaited: boolean;
}

/**
 * Continues the cluster of a lost host on this one, which was just installed: the database of the
 * backup, with the names, addresses, authorities and keys of this host.
 *
 * @throws Failure (usage) if the backup or the host cannot be used; nothing but a copy of the backup was
 *   written.
 */
export async function restoreOnNewHost(
  paths: HostPaths,
  { backup, identity, author, keepsAuthorities, isConfirmed, isWaited }: NewHostOptions,
  write: (text: string) => void,
): Promise<void> {
  await requireRegularFile(backup, '--backup');
  const underWay = await changeUnderWay(paths);
  if (underWay !== undefined) throw underWay;
  if (!(await exists(paths.record))) {
    throw new Failure('usage', 'the installation is not complete', { fix: 'Wait for its end.' });
  }
  const to = await presentIdentity(paths);
  const { signal } = new AbortController();
  const [settings, cluster] = [await readSettings(paths), await readCluster(paths)];
  const options = { backup, identity, author };
  const imported = await importBackup({ paths, settings, cluster }, options, signal);
  const { manifest, renderInput } = imported.header;
  if (keepsAuthorities) requireAuthorities(manifest);
  const from = identityOf(renderInput);
  write(`The backup of ${from.hostname} of ${manifest.at} (revision ${manifest.etcd.revision}) is complete.
${differences(from, to).join('\n') || 'The name and the address are those of the lost host.'}
Everything that is in this new cluster will be lost. The contents of persistent volumes are not in the
backup: those on a data disk are used again if it is mounted as before.
${keepsAuthorities ? KEPT : ''}${author.kind === 'host' ? '' : UNKNOWN_AUTHOR}`);
  if (!isConfirmed) await confirm('restore it', 'the restore');
  const { id } = await beginChange(paths, () =>
    requestIdentity(paths, {
      from,
      to,
      backup: imported.name,
      ...(keepsAuthorities ? { keepsAuthorities } : {}),
    }),
  );
  const begun = {
    agent: 'sno-identity',
    what: 'the restore',
    isWaited,
    isIts: (ended: IdentityRequest) => ended.id === id,
  };
  const ended = await startAndFollow(identityChange, paths, begun, write);
  if (ended !== undefined) write(`${imported.name} is restored.\n`);
}

const KEPT = `The authorities of the lost host are kept: its administrators and workers can go on, and so can whoever has
its disk.
`;

const UNKNOWN_AUTHOR = `Nothing shows who made the backup. Whoever did decides what this cluster runs and whom it trusts.
`;

/** @throws Failure (usage) for a backup of a host that did not have them all */
function requireAuthorities(manifest: BackupManifest): void {
  const missing = missingAuthorities(manifest);
  if (missing.length === 0) return;
  throw new Failure('usage', 'the backup does not have all authorities of its host', {
    code: 'backup-unusable',
    found: `no ${missing.join(', ')}`,
    fix: 'Restore it without --keep-authorities.',
  });
}

import { resolve } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { encrypterFor } from '../../../lib/change/backup/portable/recipients.ts';
import { requireBackupWritable } from '../../../lib/change/backup/portable/write.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { exportBackup, requireExportable } from '../../steps/backup/export.ts';

/** Options of `sno-backup create` for a backup that leaves the host. */
export interface PortableOptions {
  readonly to?: string;
  /** Recipients of age. */
  readonly recipient?: readonly string[];
}

/** Writes a backup of this host into one encrypted file, and returns what to tell the person. */
export type Export = (name: string) => Promise<string>;

/**
 * Checks everything that can be checked before a backup is made. Undefined if no backup is to leave the
 * host.
 *
 * @throws Failure (usage) for options or a target that cannot be used; nothing was changed.
 */
export async function plannedExport(
  paths: HostPaths,
  { to, recipient = [] }: PortableOptions,
): Promise<Export | undefined> {
  if (to === undefined && recipient.length === 0) return undefined;
  if (to === undefined || recipient.length === 0) {
    throw new Failure('usage', '--to and --recipient belong together', {
      fix: 'Give both: a backup that leaves the host contains its keys, and is always encrypted.',
    });
  }
  const encrypter = encrypterFor(recipient);
  const target = resolve(to);
  await requireBackupWritable(target, 0);
  await requireExportable(paths);
  return async (name) => {
    const { signal } = new AbortController();
    const { bytes, settingsFault } = await exportBackup(paths, name, { target, encrypter }, signal);
    return `${target}: ${Math.ceil(bytes / 2 ** 20)} MiB, encrypted for ${recipient.length === 1 ? 'one recipient' : `${recipient.length} recipients`}.
It has etcd, the keys of the host and what its control plane was rendered from. It does not have the
contents of persistent volumes, nor the payload, of which it has the digests.
${settingsFault === undefined ? '' : `Of the settings it has what is sound: ${describeError(settingsFault)}\n`}`;
  };
}

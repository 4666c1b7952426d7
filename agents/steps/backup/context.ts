import { randomUUID } from 'node:crypto';
import { listBackups } from '../../../lib/change/backup/store.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type HostContext, hostContext, signedRights } from '../host-context.ts';

/**
 * The host, an id of this run, and the names of the backups before it: each run makes one of its own,
 * whatever the clock shows. It needs no rights in the API.
 */
export interface BackupContext extends Omit<HostContext, 'withAdministrator'> {
  readonly run: string;
  readonly earlier: readonly string[];
}

/** @throws Failure (usage) if cluster.json is invalid. */
export async function backupContext(paths: HostPaths): Promise<BackupContext> {
  const context = await hostContext(paths);
  const { withEtcd } = signedRights(context);
  const earlier = (await listBackups(paths)).map(({ name }) => name);
  return { ...context, withEtcd, run: randomUUID(), earlier };
}

import type { HostPaths } from '../../../lib/host/paths.ts';
import { type HostContext, hostContext, signedRights } from '../../steps/host-context.ts';

/** The host, and when this run began: each run makes a backup of its own. It needs no rights in the API. */
export interface BackupContext extends Omit<HostContext, 'withAdministrator'> {
  readonly began: Date;
}

/** @throws Failure (usage) if cluster.json or settings.json is invalid. */
export async function backupContext(paths: HostPaths): Promise<BackupContext> {
  const context = await hostContext(paths);
  const { withEtcd } = signedRights(context);
  return { ...context, withEtcd, began: new Date() };
}

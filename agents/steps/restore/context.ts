import { Failure } from '../../../lib/base/errors/failure.ts';
import { type RestoreRequest, restoreChange } from '../../../lib/change/restore/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type HostContext, hostContext, signedRights } from '../host-context.ts';

/** The host, and what is to be restored. */
export interface RestoreContext extends HostContext {
  readonly request: Pick<RestoreRequest, 'backup' | 'requestedAt'>;
}

/** @throws Failure (usage) if nothing is to be restored, or cluster.json is invalid. */
export async function restoreContext(paths: HostPaths): Promise<RestoreContext> {
  const request = await restoreChange.read(paths);
  if (request === undefined) {
    throw new Failure('usage', 'no restore is under way', {
      fix: 'Run "sno-backup restore --from NAME".',
    });
  }
  const context = await hostContext(paths);
  return {
    ...context,
    ...signedRights(context),
    request: { backup: request.backup, requestedAt: request.requestedAt },
    // The restored database shows the past: only what happened since the request counts.
    bootTime: async (signal) =>
      later(await context.bootTime(signal), new Date(request.requestedAt)),
  };
}

const later = (a: Date, b: Date): Date => (a > b ? a : b);

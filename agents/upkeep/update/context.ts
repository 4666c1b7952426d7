import { Failure } from '../../../lib/base/errors/failure.ts';
import { listBackups } from '../../../lib/change/backup/store.ts';
import { type UpdateRequest, updateChange } from '../../../lib/change/update/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type HostContext, plainHost, signedRights } from '../../steps/host-context.ts';

/** The host, what it is updated to, and the backups before it. */
export interface UpdateContext extends HostContext {
  readonly request: UpdateRequest;
  readonly run: string;
  readonly earlier: readonly string[];
}

/** @throws Failure (usage) if no update was requested, or cluster.json is invalid. */
export async function updateContext(paths: HostPaths): Promise<UpdateContext> {
  const request = await updateChange.read(paths);
  if (request === undefined) {
    throw new Failure('usage', 'no update was requested', {
      expected: updateChange.requestPath(paths),
      fix: 'Use "sno-update run --from FOLDER|URL".',
    });
  }
  const host = await plainHost(paths);
  const backups = await listBackups(paths);
  const earlier = backups.filter(({ at }) => (at ?? '') < request.at).map(({ name }) => name);
  return { ...host, ...signedRights(host), request, run: request.id, earlier };
}

/** As messages name it. */
export const describeUpdate = ({ manifest }: UpdateRequest): string =>
  `the update to sno-agents ${manifest.executable.version} with Kubernetes ${manifest.payload.versions.kubernetes}`;

import { Failure } from '../../../lib/errors/failure.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import type { KubeClient } from '../../../lib/kube/client.ts';
import { withSignedAdministrator } from '../../../lib/render/signed-access.ts';
import type { Progress } from '../../../lib/steps/progress.ts';
import { type RenewContext, renewContext } from '../renew/context.ts';
import { type RotationRequest, readRequest, requestPath } from './request.ts';

/** The host, and what is rotated. */
export interface RotateContext extends RenewContext {
  readonly request: RotationRequest;
}

/** @throws Failure (usage) if no rotation was requested, or cluster.json or settings.json is invalid. */
export async function rotateContext(paths: HostPaths): Promise<RotateContext> {
  const request = await readRequest(paths);
  if (request !== undefined) return { ...(await renewContext(paths)), request };
  throw new Failure('usage', 'no rotation was requested', {
    expected: requestPath(paths),
    fix: 'Use "sno-certificates rotate-ca" or "sno-certificates rotate-keys".',
  });
}

/**
 * Runs `use` with an administrator's certificate that is signed in memory by the authority of the
 * moment.
 */
export async function withAdministrator<T>(
  { cluster, paths }: RotateContext,
  progress: Progress,
  use: (client: KubeClient) => Promise<T>,
): Promise<T> {
  return withSignedAdministrator(cluster.controlPlane, paths, progress, use);
}

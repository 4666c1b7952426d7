import { Failure } from '../../../lib/errors/failure.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type ControlPlaneRights, signedRights } from '../../steps/host-context.ts';
import { type RenewContext, renewContext } from '../renew/context.ts';
import { type RotationRequest, readRequest, requestPath } from './request.ts';

/** The host, and what is rotated. Its rights are signed by the authority of the moment. */
export interface RotateContext extends RenewContext, ControlPlaneRights {
  readonly request: RotationRequest;
}

/** @throws Failure (usage) if no rotation was requested, or cluster.json or settings.json is invalid. */
export async function rotateContext(paths: HostPaths): Promise<RotateContext> {
  const request = await readRequest(paths);
  if (request !== undefined) {
    const context = await renewContext(paths);
    return { ...context, ...signedRights(context), request };
  }
  throw new Failure('usage', 'no rotation was requested', {
    expected: requestPath(paths),
    fix: 'Use "sno-certificates rotate-ca" or "sno-certificates rotate-keys".',
  });
}

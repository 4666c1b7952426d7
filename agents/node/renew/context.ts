import type { HostPaths } from '../../../lib/host/paths.ts';
import {
  type ControlPlaneRights,
  type HostContext,
  hostContext,
} from '../../steps/host-context.ts';

/**
 * The host, and when this run began: what an earlier run recorded is tried again. It administers
 * nothing: what it needs of the API is signed in memory, with the rights of that purpose.
 */
export interface RenewContext extends Omit<HostContext, keyof ControlPlaneRights> {
  readonly began: Date;
}

/** @throws Failure (usage) if cluster.json or settings.json is invalid. */
export async function renewContext(paths: HostPaths): Promise<RenewContext> {
  return { ...(await hostContext(paths)), began: new Date() };
}

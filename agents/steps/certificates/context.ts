import { randomUUID } from 'node:crypto';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type ControlPlaneRights, type HostContext, hostContext } from '../host-context.ts';

/**
 * The host, and an id of this run: what an earlier run recorded is tried again. It has no
 * administrator: what it needs of the API is signed in memory, with the rights of that purpose.
 */
export interface RenewContext extends Omit<HostContext, keyof ControlPlaneRights> {
  readonly run: string;
}

/** @throws Failure (usage) if cluster.json is invalid. */
export async function renewContext(paths: HostPaths): Promise<RenewContext> {
  return { ...(await hostContext(paths)), run: randomUUID() };
}

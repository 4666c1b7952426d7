import type { HostPaths } from '../../../lib/host/paths.ts';
import { type HostContext, hostContext } from '../../steps/host-context.ts';

/** The host, and when this run began: what an earlier run recorded is tried again. */
export interface RenewContext extends HostContext {
  readonly began: Date;
}

/** @throws Failure (usage) if cluster.json or settings.json is invalid. */
export async function renewContext(paths: HostPaths): Promise<RenewContext> {
  return { ...(await hostContext(paths)), began: new Date() };
}

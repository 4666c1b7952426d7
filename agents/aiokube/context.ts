import type { HostPaths } from '../../lib/host/paths.ts';
import { type HostContext, hostContext, signedRights } from '../steps/host-context.ts';

/** A host whose agents have no key of an administrator: certificates are signed in memory. */
export async function aioContext(paths: HostPaths): Promise<HostContext> {
  const context = await hostContext(paths);
  return { ...context, ...signedRights(context) };
}

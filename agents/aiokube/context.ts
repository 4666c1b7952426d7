import type { HostPaths } from '../../lib/host/paths.ts';
import { withEtcdOfApiServer } from '../../lib/render/access.ts';
import { withSignedAdministrator } from '../../lib/render/signed-access.ts';
import { type ControlPlaneRights, type HostContext, hostContext } from '../steps/host-context.ts';

/** A host whose agents have no key of an administrator: certificates are signed in memory. */
export async function aioContext(paths: HostPaths): Promise<HostContext> {
  const context = await hostContext(paths);
  return { ...context, ...signedRights(context) };
}

export function signedRights({
  paths,
  cluster: { controlPlane },
}: Pick<HostContext, 'paths' | 'cluster'>): ControlPlaneRights {
  return {
    withAdministrator: (limits, use) => withSignedAdministrator(controlPlane, paths, limits, use),
    withEtcd: (use) => withEtcdOfApiServer(controlPlane, paths, use),
  };
}

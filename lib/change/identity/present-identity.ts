import { Failure } from '../../base/errors/failure.ts';
import { readCluster } from '../../config/cluster/read-cluster.ts';
import type { HostPaths } from '../../host/paths.ts';
import { accessTo } from '../../render/access.ts';
import { readRenderInput } from '../../render/render-input.ts';
import { type Identity, identityOf } from './identity.ts';

/** The identity that the control plane has now. @throws Failure (usage) on a host that cannot have another one */
export async function presentIdentity(paths: HostPaths): Promise<Identity> {
  const { controlPlane } = await readCluster(paths);
  accessTo(controlPlane);
  const input = await readRenderInput(paths);
  if (input !== undefined) return identityOf(input);
  throw new Failure('usage', 'this host cannot get another identity', {
    expected: '/etc/sno-agents/render-input.json, which hosts have since this release',
    found: 'a host of an earlier release',
  });
}

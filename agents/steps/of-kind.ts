import { readCluster } from '../../lib/config/cluster/read-cluster.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

/** One of both, by the control plane of the host; that of Kubernetes if none is known, as for a command's help. */
export async function ofKind<T>(paths: HostPaths, kubernetes: T, openShift: T): Promise<T> {
  const kind = await readCluster(paths).then(
    ({ controlPlane }) => controlPlane,
    () => undefined,
  );
  return kind === 'openshift' ? openShift : kubernetes;
}

/** Whether the host bootstraps in memory on its own disk; not if nothing is known of its cluster. */
export const isInPlace = (paths: HostPaths): Promise<boolean> =>
  readCluster(paths).then(
    ({ inPlace }) => inPlace === true,
    () => false,
  );

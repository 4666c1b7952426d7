import type { HostPaths } from '../../lib/host/paths.ts';
import { readSettings, type Settings } from '../../lib/host/settings.ts';
import type { Cluster } from '../../lib/render/cluster.ts';
import { readCluster } from '../../lib/render/read-cluster.ts';

/** What every step of the live stage is given. */
export interface LiveContext {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: Cluster;
}

export async function liveContext(paths: HostPaths): Promise<LiveContext> {
  const [settings, cluster] = await Promise.all([readSettings(paths), readCluster(paths)]);
  return { paths, settings, cluster };
}

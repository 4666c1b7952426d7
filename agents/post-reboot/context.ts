import { hostname } from 'node:os';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readSettings, type Settings } from '../../lib/host/settings.ts';
import { bootTime } from '../../lib/host/systemd.ts';
import type { Cluster } from '../../lib/render/cluster.ts';
import { readCluster } from '../../lib/render/read-cluster.ts';

/** What every step on the installed host is given. */
export interface InstalledContext {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: Cluster;
  readonly nodeName: string;
  /** Evidence of a steady state counts only when it is newer. */
  readonly bootTime: Date;
}

export async function installedContext(paths: HostPaths): Promise<InstalledContext> {
  const [settings, cluster, started] = await Promise.all([
    readSettings(paths),
    readCluster(paths),
    bootTime(AbortSignal.timeout(30_000)),
  ]);
  return { paths, settings, cluster, nodeName: hostname(), bootTime: started };
}

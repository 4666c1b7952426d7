import { join } from 'node:path';
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

/** The payload's folder on this host: on the live medium, or where it is fetched to. */
export function payloadFolder({ paths, cluster }: LiveContext): string {
  return cluster.payloadUrl === undefined ? join(paths.medium, 'payload') : paths.payload;
}

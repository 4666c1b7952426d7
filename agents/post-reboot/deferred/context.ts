import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSettings, type Settings } from '../../../lib/host/settings.ts';
import type { Cluster } from '../../../lib/render/cluster.ts';
import { readCluster } from '../../../lib/render/read-cluster.ts';
import type { RunOptions } from '../../../lib/steps/agent-command.ts';
import { readExpiry, setExpiry } from './expiry.ts';

export interface DeferredContext {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: Cluster;
  /** When what still waits is given up. */
  readonly expires: Date;
}

export async function deferredContext(
  paths: HostPaths,
  { expiresInHours }: RunOptions,
): Promise<DeferredContext> {
  const [settings, cluster] = await Promise.all([readSettings(paths), readCluster(paths)]);
  if (expiresInHours !== undefined) await setExpiry(paths, settings, expiresInHours);
  return { paths, settings, cluster, expires: await readExpiry(paths, settings) };
}

import { hostname } from 'node:os';
import type { Cluster, InstallableCluster } from '../../lib/cluster/cluster.ts';
import { readCluster, readInstallableCluster } from '../../lib/cluster/read-cluster.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readSettings, type Settings } from '../../lib/host/settings.ts';
import { bootTime } from '../../lib/host/systemd.ts';

/**
 * What every step is given of its host. The host's programs (systemctl, lsblk, mount ...) are
 * found by PATH, its files and sockets below `paths`: a test gives another of each.
 */
export interface HostContext {
  readonly paths: HostPaths;
  readonly settings: Settings;
  readonly cluster: Cluster;
  /** Asked again each time: DHCP or DNS may name a live host late. */
  hostname(): string;
  /** When the host started; evidence of a steady state counts only when it is newer. */
  bootTime(signal: AbortSignal): Promise<Date>;
}

/** The same for a plan that writes a disk, or prepares for it. */
export interface InstallContext extends HostContext {
  readonly cluster: InstallableCluster;
}

/** @throws Failure (usage) when cluster.json or settings.json cannot be used. */
export async function hostContext(paths: HostPaths): Promise<HostContext> {
  const [settings, cluster] = await Promise.all([readSettings(paths), readCluster(paths)]);
  return { paths, settings, cluster, hostname, bootTime };
}

/** @throws Failure (usage) as hostContext, and when cluster.json names no disk. */
export async function installContext(paths: HostPaths): Promise<InstallContext> {
  const [settings, cluster] = await Promise.all([
    readSettings(paths),
    readInstallableCluster(paths),
  ]);
  return { paths, settings, cluster, hostname, bootTime };
}

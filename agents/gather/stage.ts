import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { HostStage } from './gather-host.ts';

/**
 * Whether this host is a live (installing) or an installed one. The installed host has its
 * identity from Ignition and its marker from install-to-disk, neither of which is ever removed;
 * a host with no files of this project counts as installed.
 */
export async function stageOf({
  config,
  state,
  assets,
  medium,
  at,
}: HostPaths): Promise<HostStage> {
  const isInstalled = await anyExists([
    join(config, 'cluster-id'),
    join(state, 'installation.json'),
  ]);
  if (isInstalled) return 'installed';
  const isLive = await anyExists([
    join(config, 'cluster.json'),
    assets,
    medium,
    at('/run/ostree-live'),
  ]);
  return isLive ? 'live' : 'installed';
}

async function anyExists(paths: readonly string[]): Promise<boolean> {
  return (await Promise.all(paths.map(exists))).includes(true);
}

import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { Stage } from './gather-host.ts';

/**
 * Whether this host is a live one, which installs, or an installed one. The installed host
 * has its identity from the Ignition and its mark from install-to-disk, neither of which is
 * ever removed; of a host that has nothing of ours the installed one is the rule.
 */
export async function stageOf({ config, state, assets, medium, at }: HostPaths): Promise<Stage> {
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

import type { Cluster } from '../../config/cluster/cluster.ts';
import { cniResultFiles } from './cni-results.ts';
import { mirrorFiles } from './mirrors.ts';
import { proxyDropins, proxyFiles } from './proxy.ts';
import { reservedCpuDropins, reservedCpuFiles } from './reserved-cpus.ts';
import { shutdownFiles } from './shutdown.ts';
import type { SiteDropin, SiteFile } from './site-files.ts';
import { timeFiles } from './time.ts';
import { trustFiles } from './trust.ts';
import { updaterDropins } from './updaters.ts';

export interface MachineConfig {
  files: SiteFile[];
  dropins: SiteDropin[];
}

/** Hosts apply networkConfig from this file, but an installed host gets the resulting profiles. */
export const networkConfigPath = '/etc/sno-agents/network.yml';

/**
 * The site's configuration of one kind of host: proxy, trust, mirrors, time, network. An all-in-one
 * host applies networkConfig at each boot; nothing else would.
 */
export function machineConfig(cluster: Cluster, host: 'live' | 'installed' | 'aio'): MachineConfig {
  const { networkConfig } = cluster;
  const runsWorkloads = host !== 'live';
  return {
    files: [
      ...proxyFiles(cluster),
      ...trustFiles(cluster),
      ...mirrorFiles(cluster.imageMirrors),
      ...timeFiles(cluster),
      // It may contain passwords, such as those of 802.1X.
      ...(networkConfig === undefined || host === 'installed'
        ? []
        : [{ path: networkConfigPath, mode: 0o600, contents: networkConfig }]),
      ...(runsWorkloads ? [...shutdownFiles, ...cniResultFiles, ...reservedCpuFiles(cluster)] : []),
    ],
    dropins: [
      ...proxyDropins(cluster, host),
      ...(runsWorkloads ? [...reservedCpuDropins(cluster), ...updaterDropins] : []),
    ],
  };
}

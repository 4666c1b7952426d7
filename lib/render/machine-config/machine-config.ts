import type { Cluster } from '../../cluster/cluster.ts';
import { mirrorFiles } from './mirrors.ts';
import { proxyDropins, proxyFiles } from './proxy.ts';
import type { SiteDropin, SiteFile } from './site-files.ts';
import { timeFiles } from './time.ts';
import { trustFiles } from './trust.ts';

export interface MachineConfig {
  files: SiteFile[];
  dropins: SiteDropin[];
}

/** The live host applies its networkConfig from here; the installed one is given the profiles that this makes. */
export const networkConfigPath = '/etc/sno-agents/network.yml';

/** What a site gives, as the configuration of one of the two hosts: proxy, trust, mirrors, time, network. */
export function machineConfig(cluster: Cluster, host: 'live' | 'installed'): MachineConfig {
  const { networkConfig } = cluster;
  return {
    files: [
      ...proxyFiles(cluster),
      ...trustFiles(cluster),
      ...mirrorFiles(cluster.imageMirrors),
      ...timeFiles(cluster),
      // It can hold passwords, those of 802.1X.
      ...(networkConfig === undefined || host === 'installed'
        ? []
        : [{ path: networkConfigPath, mode: 0o600, contents: networkConfig }]),
    ],
    dropins: proxyDropins(cluster, host),
  };
}

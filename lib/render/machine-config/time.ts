import type { Cluster } from '../../config/cluster/cluster.ts';
import type { SiteFile } from './site-files.ts';

/**
 * chrony's configuration with these sources and those of DHCP. A file that differs from the
 * operating system's also prevents CoreOS from adding the sources of a platform
 * (fedora-coreos-config, coreos-platform-chrony-config).
 */
export function timeFiles({
  additionalNtpSources,
}: Pick<Cluster, 'additionalNtpSources'>): SiteFile[] {
  if (additionalNtpSources.length === 0) return [];
  const lines = [
    ...additionalNtpSources.map((source) => `server ${source} iburst`),
    'sourcedir /run/chrony-dhcp',
    'driftfile /var/lib/chrony/drift',
    'makestep 1.0 3',
    'rtcsync',
    'logdir /var/log/chrony',
  ];
  return [{ path: '/etc/chrony.conf', mode: 0o644, contents: `${lines.join('\n')}\n` }];
}

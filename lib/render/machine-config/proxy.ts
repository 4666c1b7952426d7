import type { Cluster } from '../../config/cluster/cluster.ts';
import type { SiteDropin, SiteFile } from './site-files.ts';

const ENVIRONMENT_FILE = '/etc/sno-agents/proxy.env';

/**
 * Units that connect to the outside: the container runtimes and the kubelet; on the live host
 * also the agents' own and coreos-installer, which runs as a transient unit of that name.
 */
const UNITS = {
  live: [
    'containerd.service',
    'crio.service',
    'kubelet.service',
    'bootkube.service',
    'sno-executable.service',
    'sno-coreos-installer.service',
  ],
  installed: ['containerd.service', 'crio.service', 'kubelet.service'],
  // The units of the agents read the file by themselves: a drop-in would outlive them.
  aio: ['containerd.service', 'crio.service', 'kubelet.service'],
} as const;

/** In both cases: Go reads either, curl only lower case for HTTP. */
export function proxyFiles({ proxy }: Pick<Cluster, 'proxy'>): SiteFile[] {
  if (proxy === undefined) return [];
  const variables = {
    HTTP_PROXY: proxy.httpProxy,
    HTTPS_PROXY: proxy.httpsProxy,
    NO_PROXY: proxy.noProxy.join(','),
  };
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}\n`, `${name.toLowerCase()}=${value}\n`],
  );
  // The URL of a proxy may contain a password.
  return [{ path: ENVIRONMENT_FILE, mode: 0o600, contents: lines.join('') }];
}

export function proxyDropins(
  { proxy }: Pick<Cluster, 'proxy'>,
  host: keyof typeof UNITS,
): SiteDropin[] {
  if (proxy === undefined) return [];
  return UNITS[host].map((unit) => ({
    unit,
    name: '10-sno-proxy.conf',
    // Optional, so that units start after the proxy has been removed.
    contents: `[Service]\nEnvironmentFile=-${ENVIRONMENT_FILE}\n`,
  }));
}

import { HttpsProxyAgent } from 'hpagent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';

/** How long an HTTP proxy may take to connect; for SOCKS the library has the same bound. */
const CONNECT_MS = 30_000;

/** Connections through `proxy-url` of a kubeconfig: http://, https:// or socks5://, with a user and a password if it names them. */
export function throughProxy(proxy: string): NonNullable<Access['connections']> {
  return (options) =>
    // With a timeout, the agent for SOCKS also ends a watch in which nothing happens for so long.
    proxy.startsWith('socks')
      ? new SocksProxyAgent(proxy, options)
      : new HttpsProxyAgent({ ...options, timeout: CONNECT_MS, proxy });
}

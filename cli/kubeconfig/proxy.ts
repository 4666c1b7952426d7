import { HttpsProxyAgent } from 'hpagent';
import { SocksProxyAgent } from 'socks-proxy-agent';
import type { Access } from '../../lib/clients/kube/kubeconfig.ts';

/** How long a proxy may take to connect. */
const CONNECT_MS = 30_000;

/** Connections through `proxy-url` of a kubeconfig: http://, https:// or socks5://, with a user and a password if it names them. */
export function throughProxy(proxy: string): NonNullable<Access['connections']> {
  return (options) => {
    const limited = { ...options, timeout: CONNECT_MS };
    return proxy.startsWith('socks')
      ? new SocksProxyAgent(proxy, limited)
      : new HttpsProxyAgent({ ...limited, proxy });
  };
}

import { canonicalAddress, isAddress } from './address.ts';
import { contains, parseNetwork } from './network.ts';

/** How the outside is reached. `noProxy`: names, addresses and networks; or `*` alone. */
export interface ProxySettings {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy: readonly string[];
}

/**
 * By which kind of entry a URL's host is exempt from the proxy; undefined if it is not. As Go programs read it
 * (x/net/http/httpproxy): a name matches itself and all names below it, with a leading dot only those below; networks
 * match addresses, not names. curl matches networks only from version 7.86.
 */
export function exemptBy(
  url: string,
  noProxy: readonly string[],
): 'name' | 'address' | 'network' | undefined {
  const host = hostOf(url);
  if (noProxy.includes('*')) return 'name';
  if (!isAddress(host)) return noProxy.some((entry) => isBelow(host, entry)) ? 'name' : undefined;
  if (noProxy.some((entry) => canonicalAddress(entry) === host)) return 'address';
  const networks = noProxy.flatMap((entry) => parseNetwork(entry) ?? []);
  return networks.some((network) => contains(network, host)) ? 'network' : undefined;
}

/** The proxy that is asked for a URL; undefined if its server is asked. */
export function proxyFor(url: string, proxy: ProxySettings | undefined): string | undefined {
  if (proxy === undefined || exemptBy(url, proxy.noProxy) !== undefined) return undefined;
  return new URL(url).protocol === 'https:' ? proxy.httpsProxy : proxy.httpProxy;
}

/** `noProxy` for a curl of any version that is to fetch this URL. */
export function noProxyOf(url: string, noProxy: readonly string[]): string[] {
  if (noProxy.includes('*')) return ['*'];
  const exempt = exemptBy(url, noProxy) !== undefined;
  const host = hostOf(url);
  // curl takes the name with a leading dot for the name itself, too.
  const others = noProxy.filter(
    (entry) => !entry.includes('/') && (exempt || entry !== `.${host}`),
  );
  return exempt && !others.includes(host) ? [...others, host] : others;
}

/** Without brackets and a final dot, in lower case; an address in its canonical form. */
function hostOf(url: string): string {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return canonicalAddress(host);
}

function isBelow(host: string, entry: string): boolean {
  const name = entry.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('.')) return host.endsWith(name);
  return host === name || host.endsWith(`.${name}`);
}

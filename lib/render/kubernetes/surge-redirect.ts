import { familyOf } from '../../base/network/address.ts';
import type { Cluster } from '../../config/cluster/cluster.ts';
import { apiServiceIps } from './addresses.ts';
import { apiPort } from './paths.ts';
import { surgePort } from './surge-pod.ts';

const TABLE = 'table inet sno-surge';

/**
 * Connections from this loopback address are not redirected: with it, the first API server is asked itself.
 * Every address of 127.0.0.0/8 is one of `lo`.
 */
export const directAddress = '127.0.0.2';

/**
 * Rules for nft(8) that turn new connections to the API server to the second one. Established ones stay where they are.
 *
 * - kube-proxy translates the address of the Service `kubernetes`, which has no endpoint while its only server stops; these
 *   rules come first. Its filters look at packets of pods after that.
 * - The server's own client connects to `[::1]`, with a token that only the same process knows
 *   (k8s.io/apiserver, LoopbackHostPort).
 */
export function surgeRedirect(cluster: Pick<Cluster, 'serviceNetwork'>): string {
  const services = apiServiceIps(cluster).map((address) => {
    const word = familyOf(address) === 'IPv4' ? 'ip' : 'ip6';
    return `    ${word} daddr ${address} tcp dport 443 redirect to :${surgePort}\n`;
  });
  const rules = `${services.join('')}    fib daddr type local tcp dport ${apiPort} redirect to :${surgePort}\n`;
  return `${noSurgeRedirect}${TABLE} {
  chain from-outside {
    type nat hook prerouting priority -110;
${rules}  }
  chain from-host {
    type nat hook output priority -110;
    ip saddr ${directAddress} return
    ip6 daddr ::1 return
${rules}  }
}
`;
}

/** Rules that end the redirection, whether there is one or not. */
export const noSurgeRedirect = `${TABLE}\ndelete ${TABLE}\n`;

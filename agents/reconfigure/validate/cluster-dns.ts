import { Resolver } from 'node:dns/promises';
import { familyOf } from '../../../lib/base/network/address.ts';

/** What a name server, such as the cluster's, answers for a name: addresses of its own family. */
export function askNameServer(server: string, name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  resolver.setServers([server]);
  return familyOf(server) === 'IPv4' ? resolver.resolve4(name) : resolver.resolve6(name);
}

import { Resolver } from 'node:dns/promises';

/** What a name server, such as the cluster's, answers for a name. */
export function askNameServer(server: string, name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  resolver.setServers([server]);
  return resolver.resolve4(name);
}

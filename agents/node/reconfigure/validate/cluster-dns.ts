import { Resolver } from 'node:dns/promises';

/** What the cluster's DNS answers for a name. */
export function askClusterDns(server: string, name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  resolver.setServers([server]);
  return resolver.resolve4(name);
}

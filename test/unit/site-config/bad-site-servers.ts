import type { BadSite } from './good-site.ts';

/** Servers and machines that cannot be those of a site. */
export const badServers: readonly BadSite[] = [
  ...(
    [
      ['dns.servers[0]', 'dns: {servers: [0.0.0.0]}'],
      ['dns.servers[0]', 'dns: {servers: ["ff02::fb"]}'],
      ['additionalNTPSources[0]', 'additionalNTPSources: [224.0.1.1]'],
      ['proxy.httpProxy', 'proxy: {httpProxy: "http://u:geheim@255.255.255.255:3128"}'],
      ['siteChecks[0].ping', 'siteChecks: [ping: 224.0.0.1]'],
      ['siteChecks[0].tcp', 'siteChecks: [tcp: "0.0.0.0:80"]'],
      ['siteChecks[0].https', 'siteChecks: [https: "https://[::]/"]'],
    ] as const
  ).map(
    ([field, given]): BadSite => ({
      name: `a server at no address of a host: ${given}`,
      more: `${given}\n`,
      faults: [`4 ${field}`],
      says: /an address of a host, found .*, an address of/,
      hides: /geheim/,
    }),
  ),
];

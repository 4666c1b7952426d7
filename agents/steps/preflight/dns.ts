import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { canonicalAddress } from '../../../lib/base/network/address.ts';
import { clusterDomain } from '../../../lib/config/cluster/cluster.ts';
import type { FamilyAddress } from '../../../lib/host/network.ts';
import {
  absoluteName,
  isInHosts,
  parseResolvConf,
  resolvConfForPods,
} from '../../../lib/host/resolv-conf.ts';
import { bad, type Check, type CheckInput, good } from './check.ts';

/** The DNS record type for an address family, and Node's value for the family. */
const RECORD = { IPv4: { type: 'A', family: 4 }, IPv6: { type: 'AAAA', family: 6 } } as const;

/**
 * A name that must resolve to this host in every family of the cluster: the API or the
 * cluster's routes are reached through it.
 */
function resolvesHere(name: Check['name'], domainName: (input: CheckInput) => string): Check {
  return {
    name,
    code: 'dns-record-missing',
    async run(input) {
      const fqdn = domainName(input);
      const hosts = await readFile(input.paths.at('/etc/hosts'), 'utf8').catch(() => '');
      const asked = isInHosts(hosts, fqdn) ? fqdn : absoluteName(fqdn);
      const answers = await Promise.all(
        input.addresses.map(async (wanted) => ({
          wanted,
          found: await resolve(asked, wanted.family, input.signal),
        })),
      );
      const wrong = answers.filter(
        ({ wanted: { address }, found }) =>
          address === undefined || !found.addresses.includes(address.address),
      );
      const seen = ({ found }: (typeof answers)[number]) =>
        found.addresses.length > 0 ? found.addresses.join(', ') : found.error;
      if (wrong.length === 0) return good(`${fqdn} is ${answers.map(seen).join(', ')}`);
      return bad(
        `${fqdn} does not resolve to this host: ${wrong.map(seen).join(', ')}`,
        wrong.map(({ wanted }) => recordToAdd(fqdn, wanted)).join(' '),
        fqdn,
      );
    },
  };
}

function recordToAdd(fqdn: string, { family, address }: FamilyAddress): string {
  const wanted = address?.address ?? 'of this host';
  return `Add a DNS record for ${fqdn} with the address ${wanted} (${RECORD[family].type}).`;
}

async function resolve(
  name: string,
  family: FamilyAddress['family'] | undefined,
  signal: AbortSignal,
) {
  try {
    const wanted = family === undefined ? 0 : RECORD[family].family;
    const answer = lookup(name, { all: true, family: wanted });
    const found = await Promise.race([answer, aborted(signal)]);
    return {
      addresses: found.map(({ address }) => canonicalAddress(address)),
      error: 'no address',
    };
  } catch (error) {
    return { addresses: [], error: describeError(error) };
  }
}

/** getaddrinfo cannot be cancelled; its result is ignored. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new Error('the name servers did not answer in time'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
  });
}

export const dnsChecks: readonly Check[] = [
  resolvesHere('dns-api', ({ cluster }) => `api.${clusterDomain(cluster)}`),
  resolvesHere('dns-api-int', ({ cluster }) => `api-int.${clusterDomain(cluster)}`),
  // Any name below *.apps shows that the wildcard exists.
  resolvesHere('dns-apps', ({ cluster }) => `preflight-check.apps.${clusterDomain(cluster)}`),
  resolvesHere('dns-hostname', ({ hostname }) => hostname),
];

/**
 * Pods inherit the search domains and try each before a name with fewer than five dots as it is
 * (resolv.conf(5), `ndots`). One that answers every name takes most names of the internet to its address.
 */
export const dnsSearchCheck: Check = {
  name: 'dns-search',
  onlyWarns: true,
  code: 'dns-search-wildcard',
  async run({ paths, signal }) {
    const file = paths.at(await resolvConfForPods(paths));
    const { search } = parseResolvConf(await readFile(file, 'utf8').catch(() => ''));
    const domains = [...new Set(search.map((domain) => domain.replace(/\.$/, '')))].filter(Boolean);
    const answers = await Promise.all(
      domains.map(async (domain) => {
        const name = `sno-preflight-${randomBytes(6).toString('hex')}.${domain}`;
        const { addresses } = await resolve(absoluteName(name), undefined, signal);
        return { domain, addresses };
      }),
    );
    const answering = answers.filter(({ addresses }) => addresses.length > 0);
    if (answering.length === 0) {
      return good(
        domains.length === 0
          ? 'there are no search domains'
          : `no search domain (${domains.join(', ')}) answers a name that does not exist`,
      );
    }
    const found = answering.map(({ domain, addresses }) => `${domain} (${addresses.join(', ')})`);
    return bad(
      `a name that does not exist is found in the search domain ${found.join(' and ')}: pods inherit it, and would reach that address by most names`,
      "Take the domain out of the network's search domains (DHCP options 15 and 119, dns-resolver.config.search of the networkConfig), or remove the wildcard record.",
      answering[0]?.domain,
    );
  },
};

import { lookup } from 'node:dns/promises';
import { clusterDomain } from '../../../lib/render/cluster.ts';
import { bad, type Check, type CheckInput, good } from './check.ts';

/** A name that must resolve to this host: through it the API or the cluster's routes are reached. */
function resolvesHere(name: Check['name'], domainName: (input: CheckInput) => string): Check {
  return {
    name,
    async run(input) {
      const fqdn = domainName(input);
      const expected = input.addresses.map(({ address }) => address);
      const found = await resolve(fqdn, input.signal);
      if (found.addresses.some((address) => expected.includes(address))) {
        return good(`${fqdn} is ${found.addresses.join(', ')}`);
      }
      const seen = found.addresses.length > 0 ? found.addresses.join(', ') : found.error;
      return bad(
        `${fqdn} does not resolve to this host: ${seen}`,
        `Add a DNS record for ${fqdn} with the address ${expected.join(' or ') || 'of this host'}.`,
      );
    },
  };
}

async function resolve(name: string, signal: AbortSignal) {
  try {
    const found = await Promise.race([lookup(name, { all: true, family: 4 }), aborted(signal)]);
    return { addresses: found.map(({ address }) => address), error: 'no address' };
  } catch (error) {
    return { addresses: [], error: error instanceof Error ? error.message : String(error) };
  }
}

/** getaddrinfo cannot be stopped; its answer is no longer waited for. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new Error('the name servers did not answer in time'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

export const dnsChecks: readonly Check[] = [
  resolvesHere('dns-api', ({ cluster }) => `api.${clusterDomain(cluster)}`),
  resolvesHere('dns-api-int', ({ cluster }) => `api-int.${clusterDomain(cluster)}`),
  // Any name below *.apps shows that the wildcard is there.
  resolvesHere('dns-apps', ({ cluster }) => `preflight-check.apps.${clusterDomain(cluster)}`),
  resolvesHere('dns-hostname', ({ hostname }) => hostname),
];

import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { canonicalAddress } from '../../../lib/base/network/address.ts';
import { type Cluster, clusterDomain } from '../../../lib/config/cluster/cluster.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { hostAddresses, nodeIpsOf } from '../../../lib/host/network.ts';
import { parseResolvConf, type ResolverConfiguration } from '../../../lib/host/resolv-conf.ts';
import type { GatherHost } from '../gather-host.ts';

const ANSWER_MS = 3000;

export interface DnsAnswer {
  readonly name: string;
  readonly addresses: readonly string[];
  /** A code of c-ares, such as ENOTFOUND or ETIMEOUT, if no address was returned. */
  readonly error?: string;
  /** This node's addresses in the cluster's networks. */
  readonly expected: readonly string[];
}

/** The cluster's DNS names, resolved by this host's name servers. */
export async function dnsAnswers({ paths }: GatherHost, signal: AbortSignal): Promise<DnsAnswer[]> {
  const configuration = parseResolvConf(await readFile(paths.at('/etc/resolv.conf'), 'utf8'));
  const cluster = await readCluster(paths).catch(() => undefined);
  const expected = cluster === undefined ? [] : await nodeAddresses(cluster, signal);
  const names = [...(cluster === undefined ? [] : clusterNames(cluster)), hostname()];
  return Promise.all(names.map((name) => askFor(name, expected, configuration, signal)));
}

/** Any name below *.apps shows that the wildcard exists. */
function clusterNames(cluster: Cluster): string[] {
  const domain = clusterDomain(cluster);
  return [`api.${domain}`, `api-int.${domain}`, `gather-check.apps.${domain}`];
}

const nodeAddresses = async ({ machineNetwork }: Cluster, signal: AbortSignal) =>
  nodeIpsOf(await hostAddresses(signal), machineNetwork) ?? [];

/** Queries both address families. A short name is queried in the host's search domains. */
export async function askFor(
  name: string,
  expected: readonly string[],
  { servers, search }: ResolverConfiguration,
  signal: AbortSignal,
): Promise<DnsAnswer> {
  if (servers.length === 0) return { name, addresses: [], error: 'no name server', expected };
  const names = name.includes('.')
    ? [name]
    : [...search.map((domain) => `${name}.${domain}`), name];
  const resolver = new Resolver({ timeout: 1000, tries: 2 });
  resolver.setServers(servers);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const cancel = () => resolver.cancel();
  limit.addEventListener('abort', cancel, { once: true });
  let error = 'ENOTFOUND';
  try {
    for (const full of names) {
      limit.throwIfAborted();
      const results = await Promise.allSettled([resolver.resolve4(full), resolver.resolve6(full)]);
      const addresses = results.flatMap((result) =>
        result.status === 'fulfilled' ? result.value.map(canonicalAddress) : [],
      );
      if (addresses.length > 0) return { name, addresses, expected };
      error = errorOf(results);
    }
  } catch {
    error = 'ETIMEOUT';
  } finally {
    limit.removeEventListener('abort', cancel);
  }
  return { name, addresses: [], error: limit.aborted ? 'ETIMEOUT' : error, expected };
}

/** A nonexistent name says more than a missing address of one family. */
function errorOf(results: readonly PromiseSettledResult<unknown>[]): string {
  const codes = results.flatMap((result) =>
    result.status === 'rejected' ? [codeOf(result.reason)] : [],
  );
  return codes.find((code) => code !== 'ENODATA') ?? codes[0] ?? 'ENOTFOUND';
}

const codeOf = (reason: unknown) =>
  reason instanceof Error && 'code' in reason ? String(reason.code) : String(reason);

import { z } from 'zod';
import { canonicalAddress } from '../../lib/base/network/address.ts';
import { readDocument } from '../../lib/config/file/document.ts';
import { type SiteConfig, siteDomain } from '../../lib/config/site-config/site-config.ts';

/** A row of the table of sites, and what it makes. */
export interface RowConfig {
  /** In the file, from 1. */
  readonly line: number;
  readonly config: Claims;
}

/** What of a site is its own. */
export type Claims = Pick<SiteConfig, 'hosts' | 'clusterName' | 'baseDomain' | 'networkConfig'>;

const addressed = z
  .object({ address: z.array(z.object({ ip: z.string() })).optional() })
  .optional();
const networkSchema = z.object({
  interfaces: z.array(z.object({ ipv4: addressed, ipv6: addressed })).optional(),
});

/** A fault for each machine and each name that is in a second row: one node cannot be two sites. */
export const repeatedIn = (rows: readonly RowConfig[]): string[] => [
  ...again(rows, ({ hosts }) => hosts, 'the machine'),
  ...again(rows, (config) => [siteDomain(config)], 'the domain'),
];

/** The same of addresses, which sites with networks of their own may share. */
export const sharedAddresses = (rows: readonly RowConfig[]): string[] =>
  again(rows, ({ networkConfig }) => addressesIn(networkConfig), 'the address');

function again(
  rows: readonly RowConfig[],
  valuesOf: (config: Claims) => readonly string[],
  what: string,
): string[] {
  const first = new Map<string, number>();
  return rows.flatMap(({ line, config }) =>
    [...new Set(valuesOf(config))].flatMap((value) => {
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, line);
      return earlier === undefined
        ? []
        : [`line ${line}: ${what} ${value} is that of line ${earlier}`];
    }),
  );
}

function addressesIn(networkConfig: string | undefined): string[] {
  const network = networkSchema.safeParse(readDocument(networkConfig ?? '{}').value);
  return (network.data?.interfaces ?? []).flatMap(({ ipv4, ipv6 }) =>
    [...(ipv4?.address ?? []), ...(ipv6?.address ?? [])].map(({ ip }) => canonicalAddress(ip)),
  );
}

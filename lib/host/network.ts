import { z } from 'zod';
import { canonicalAddress, type Family, familyOf, numberOf } from '../base/network/address.ts';
import { contains, parseNetwork } from '../base/network/network.ts';
import type { NodeIps } from '../base/network/node-ips.ts';
import { run } from './command.ts';

const addressesSchema = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z
      .array(
        z.object({
          local: z.string().optional(),
          prefixlen: z.number().optional(),
          scope: z.string().optional(),
          dynamic: z.boolean().optional(),
          tentative: z.boolean().optional(),
          dadfailed: z.boolean().optional(),
          deprecated: z.boolean().optional(),
          temporary: z.boolean().optional(),
          valid_life_time: z.number().optional(),
        }),
      )
      .default([]),
  }),
);

export interface HostAddress {
  readonly interfaceName: string;
  /** In canonical form. */
  readonly address: string;
  readonly prefixLength: number;
  /** Remaining seconds of an address from DHCP or a router prefix; undefined if configured. */
  readonly leaseSeconds?: number;
}

/** The host's usable addresses of both families, in the order of its interfaces. */
export async function hostAddresses(signal: AbortSignal): Promise<HostAddress[]> {
  const text = await run('ip', ['-json', 'address', 'show'], { signal, deadlineMs: 10_000 });
  return parseAddresses(JSON.parse(text));
}

/**
 * Parses the output of `ip -json address show`. Leaves out addresses that are
 * temporary or unusable: link-local and loopback addresses, tentative, duplicate
 * and deprecated ones, and IPv6 privacy addresses.
 */
export function parseAddresses(data: unknown): HostAddress[] {
  return addressesSchema.parse(data).flatMap(({ ifname, addr_info }) =>
    addr_info.flatMap(({ local, prefixlen, scope, dynamic, valid_life_time, ...flags }) => {
      if (ifname === undefined || local === undefined || prefixlen === undefined) return [];
      const isUnusable = Object.values(flags).includes(true);
      if (scope !== 'global' || isUnusable) return [];
      const lease = dynamic === true ? { leaseSeconds: valid_life_time ?? 0 } : {};
      const address = canonicalAddress(local);
      return [{ interfaceName: ifname, address, prefixLength: prefixlen, ...lease }];
    }),
  );
}

/** The addresses that are in one of the networks (CIDR). */
export function addressesIn(
  addresses: readonly HostAddress[],
  networks: readonly string[],
): HostAddress[] {
  const parsed = networks.map(parseNetwork).filter((network) => network !== undefined);
  return addresses.filter(({ address }) => parsed.some((network) => contains(network, address)));
}

/** The host's address in one family, and the other candidates. */
export interface FamilyAddress {
  readonly family: Family;
  readonly address: HostAddress | undefined;
  readonly rivals: readonly HostAddress[];
}

/**
 * The address by which the host is known, for each family of the machine networks.
 * A configured address is preferred over one from DHCP or a router prefix; among
 * the latter, a longer prefix is preferred: DHCPv6 leases single addresses (/128),
 * and a host often also has one made from the prefix (/64). Ties are broken by the
 * lowest address, so that the result is always the same.
 */
export function addressByFamily(
  addresses: readonly HostAddress[],
  machineNetwork: readonly string[],
): FamilyAddress[] {
  const local = addressesIn(addresses, machineNetwork);
  const families = new Set(machineNetwork.map(familyOf));
  return [...families].map((family) => {
    const [address, ...others] = local
      .filter((each) => familyOf(each.address) === family)
      .toSorted((a, b) => precedence(a, b) || compareNumbers(a, b));
    const rivals = others.filter(
      (other) => address !== undefined && precedence(address, other) === 0,
    );
    return { family, address, rivals };
  });
}

/** The addresses of the node; undefined while the host lacks one of a family. */
export function nodeIpsOf(
  addresses: readonly HostAddress[],
  machineNetwork: readonly string[],
): NodeIps | undefined {
  const found = addressByFamily(addresses, machineNetwork).map(({ address }) => address?.address);
  const [first, second] = found;
  if (first === undefined || found.includes(undefined)) return undefined;
  return second === undefined ? [first] : [first, second];
}

function precedence(a: HostAddress, b: HostAddress): number {
  const isLeased = ({ leaseSeconds }: HostAddress) => Number(leaseSeconds !== undefined);
  const kind = isLeased(a) - isLeased(b);
  if (kind !== 0 || a.leaseSeconds === undefined) return kind;
  return b.prefixLength - a.prefixLength;
}

function compareNumbers(a: HostAddress, b: HostAddress): number {
  return Number(numberOf(a.address) - numberOf(b.address));
}

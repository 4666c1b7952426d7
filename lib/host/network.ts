import { BlockList } from 'node:net';
import { z } from 'zod';
import { run } from './command.ts';

const addressesSchema = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z
      .array(
        z.object({
          family: z.string().optional(),
          local: z.string().optional(),
          prefixlen: z.number().optional(),
          scope: z.string().optional(),
          dynamic: z.boolean().optional(),
          tentative: z.boolean().optional(),
          deprecated: z.boolean().optional(),
          valid_life_time: z.number().optional(),
        }),
      )
      .default([]),
  }),
);

export interface HostAddress {
  readonly interfaceName: string;
  readonly address: string;
  readonly prefixLength: number;
  /** Leased by DHCP, for that many seconds more; undefined for a configured address. */
  readonly leaseSeconds?: number;
}

/** The host's usable IPv4 addresses, in the order of its interfaces. */
export async function hostAddresses(signal: AbortSignal): Promise<HostAddress[]> {
  const text = await run('ip', ['-json', '-4', 'address', 'show'], { signal, deadlineMs: 10_000 });
  return parseAddresses(JSON.parse(text));
}

/** The data of `ip -json address show` as addresses; link-local, loopback and unfinished ones left out. */
export function parseAddresses(data: unknown): HostAddress[] {
  return addressesSchema.parse(data).flatMap(({ ifname, addr_info }) =>
    addr_info.flatMap(
      ({ local, prefixlen, scope, dynamic, tentative, deprecated, valid_life_time }) => {
        if (ifname === undefined || local === undefined || prefixlen === undefined) return [];
        if (scope !== 'global' || tentative === true || deprecated === true) return [];
        const lease = dynamic === true ? { leaseSeconds: valid_life_time ?? 0 } : {};
        return [{ interfaceName: ifname, address: local, prefixLength: prefixlen, ...lease }];
      },
    ),
  );
}

/** Those addresses that lie in one of the networks (CIDR). */
export function addressesIn(
  addresses: readonly HostAddress[],
  networks: readonly string[],
): HostAddress[] {
  const list = new BlockList();
  for (const network of networks) {
    const [base, length] = network.split('/');
    if (base !== undefined && length !== undefined) list.addSubnet(base, Number(length), 'ipv4');
  }
  return addresses.filter(({ address }) => list.check(address, 'ipv4'));
}

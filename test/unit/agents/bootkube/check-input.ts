import type { LookupAllOptions } from 'node:dns';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Test } from 'tap';
import type { CheckInput } from '../../../../agents/steps/preflight/check.ts';
import { addressByFamily, type HostAddress } from '../../../../lib/host/network.ts';
import { testHost } from '../host/host.ts';

export const NETWORKS = ['192.0.2.0/24', '2001:db8::/64'];

/** A host's address; `leaseSeconds` for a leased one. */
export const at = (address: string, prefixLength: number, more: Partial<HostAddress> = {}) => ({
  interfaceName: 'eth0',
  address,
  prefixLength,
  ...more,
});
export const ipv4 = at('192.0.2.10', 24);
export const ipv6 = at('2001:db8::10', 64);

/** Input of a preflight check on a host with these addresses. */
export function inputFor(
  t: Test,
  addresses: readonly HostAddress[],
  machineNetwork: string[],
  hostname = 'sno',
): CheckInput {
  const { context } = testHost(t);
  return {
    ...context,
    cluster: { ...context.cluster, machineNetwork },
    hostname,
    addresses: addressByFamily(addresses, machineNetwork),
    signal: AbortSignal.timeout(120_000),
  };
}

/** Records by `NAME FAMILY`; any other name is not found. */
export type Records = Readonly<Record<string, readonly string[]>>;

/** Replaces the answers of the name servers until the test ends. */
export function resolveBy(
  t: Test,
  answer: (name: string, family: unknown) => Promise<string[]>,
): void {
  t.teardown(() => syncBuiltinESMExports());
  t.capture(dns, 'lookup', async (name: string, { family }: LookupAllOptions) =>
    (await answer(name, family)).map((address) => ({ address, family })),
  );
  syncBuiltinESMExports();
}

export function giveRecords(t: Test, records: Records): void {
  resolveBy(t, async (name, family) => {
    const found = records[`${name} ${family}`];
    if (found === undefined) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
    return [...found];
  });
}

import type { Test } from 'tap';
import type { CheckInput } from '../../../../agents/bootkube/preflight/check.ts';
import { addressByFamily, type HostAddress } from '../../../../lib/host/network.ts';
import { testHost } from '../host/host.ts';

export const NETWORKS = ['192.0.2.0/24', '2001:db8::/64'];

/** An address of a host; `leaseSeconds` for one that is leased. */
export const at = (address: string, prefixLength: number, more: Partial<HostAddress> = {}) => ({
  interfaceName: 'eth0',
  address,
  prefixLength,
  ...more,
});
export const ipv4 = at('192.0.2.10', 24);
export const ipv6 = at('2001:db8::10', 64);

/** What a check of preflight is given on a host with these addresses. */
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

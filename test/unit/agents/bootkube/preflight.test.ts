import t from 'tap';
import type { CheckInput } from '../../../../agents/bootkube/preflight/check.ts';
import { dnsChecks } from '../../../../agents/bootkube/preflight/dns.ts';
import { addressCheck } from '../../../../agents/bootkube/preflight/identity.ts';
import { addressByFamily } from '../../../../lib/host/network.ts';
import { liveHost } from '../live-host.ts';

const NETWORKS = ['192.0.2.0/24', '2001:db8::/64'];
const at = (address: string, prefixLength: number) => ({
  interfaceName: 'eth0',
  address,
  prefixLength,
});
const ipv4 = at('192.0.2.10', 24);
const ipv6 = at('2001:db8::10', 64);

function inputFor(
  t: { testdir(): string },
  addresses: readonly ReturnType<typeof at>[],
  machineNetwork: string[],
  hostname = 'sno',
): CheckInput {
  const { context } = liveHost(t.testdir());
  return {
    ...context,
    cluster: { ...context.cluster, machineNetwork },
    hostname,
    addresses: addressByFamily(addresses, machineNetwork),
    signal: AbortSignal.timeout(20_000),
  };
}

t.test('one address of each family', async (t) => {
  const table: [string, ReturnType<typeof at>[], string[], RegExp][] = [
    ['both', [ipv4, ipv6], NETWORKS, /192\.0\.2\.10 on eth0 is configured; .*2001:db8::10 on eth0/],
    ['IPv6 alone', [ipv4, ipv6], ['2001:db8::/64'], /^the address 2001:db8::10/],
    ['IPv6 is missing', [ipv4], NETWORKS, /no IPv6 address of this host/],
    ['IPv4 is missing', [ipv6], NETWORKS, /no IPv4 address of this host/],
    [
      'two that are equal',
      [ipv4, ipv6, at('2001:db8::11', 64)],
      NETWORKS,
      /several addresses.*2001:db8::10, 2001:db8::11/,
    ],
  ];
  for (const [name, addresses, networks, expected] of table) {
    const finding = await addressCheck.run(inputFor(t, addresses, networks));
    t.match(finding.ok ? finding.fact : finding.problem, expected, name);
  }
});

t.test('a record of each family', async (t) => {
  const check = dnsChecks.find(({ name }) => name === 'dns-hostname');
  if (check === undefined) throw new Error('there is no such check');
  // An address in place of a name resolves to itself in its own family, without a name server.
  const table: [string, string, string[], RegExp][] = [
    ['IPv4', '192.0.2.10', ['192.0.2.0/24'], /^192\.0\.2\.10 is 192\.0\.2\.10$/],
    ['IPv6', '2001:DB8:0::10', ['2001:db8::/64'], / is 2001:db8::10$/],
    [
      'a dual-stack host without an AAAA record',
      '192.0.2.10',
      NETWORKS,
      /^Add a DNS record for \S+ with the address 2001:db8::10 \(AAAA\)\.$/,
    ],
    [
      'a dual-stack host without an A record',
      '2001:db8::10',
      NETWORKS,
      /^Add a DNS record for \S+ with the address 192\.0\.2\.10 \(A\)\.$/,
    ],
    ['the record of another host', '192.0.2.11', ['192.0.2.0/24'], /the address 192\.0\.2\.10/],
  ];
  for (const [name, hostname, networks, expected] of table) {
    const finding = await check.run(inputFor(t, [ipv4, ipv6], networks, hostname));
    t.match(finding.ok ? finding.fact : finding.fix, expected, name);
  }
});

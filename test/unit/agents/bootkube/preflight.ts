import t from 'tap';
import type { CheckInput } from '../../../../agents/bootkube/preflight/check.ts';
import { dnsChecks } from '../../../../agents/bootkube/preflight/dns.ts';
import { addressCheck, hostnameCheck } from '../../../../agents/bootkube/preflight/identity.ts';
import {
  clockCheck,
  diskCheck,
  memoryCheck,
} from '../../../../agents/bootkube/preflight/machine.ts';
import { checks, preflight } from '../../../../agents/bootkube/preflight/preflight.ts';
import { addressByFamily } from '../../../../lib/host/network.ts';
import { createAuthority } from '../../../../lib/pki/authority.ts';
import { giveDisk } from '../host/disk.ts';
import { testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
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

t.test('the name of the host is final and one for a Node', async (t) => {
  const table: [hostname: string, configured: string | undefined, ok: boolean, says: RegExp][] = [
    ['edge-0', undefined, true, /name is edge-0/],
    ['edge-0.example.test', undefined, true, /edge-0\.example\.test/],
    ['edge-0', 'edge-0', true, /edge-0/],
    ['edge-1', 'edge-0', false, /"edge-1", not "edge-0"/],
    ['', undefined, false, /not final/],
    ['localhost', undefined, false, /not final/],
    ['localhost.localdomain', undefined, false, /not final/],
    ['Edge_0', undefined, false, /RFC 1123/],
    ['-edge', undefined, false, /RFC 1123/],
    [`${'a'.repeat(64)}.test`, undefined, false, /RFC 1123/],
    [Array(60).fill('aaaa').join('.'), undefined, false, /RFC 1123/],
  ];
  for (const [hostname, configured, ok, says] of table) {
    const { cluster, ...input } = inputFor(t, [ipv4], ['192.0.2.0/24'], hostname);
    const more = configured === undefined ? {} : { hostname: configured };
    const finding = await hostnameCheck.run({ ...input, cluster: { ...cluster, ...more } });
    t.equal(finding.ok, ok, hostname);
    t.match(finding.ok ? finding.fact : finding.problem, says, hostname);
  }
});

t.test('the machine', async (t) => {
  const host = testHost(t, { settings: { minMemoryMiB: 1, minDiskGB: 8 } });
  writePayload(host, '/run/media/iso/sno-agents/payload');
  giveDisk(host, { sizeMiB: 32_768 });
  const input = { ...inputFor(t, [ipv4], ['192.0.2.0/24']), ...host.context, hostname: 'edge-0' };
  const authority = await createAuthority('admin-ca');
  host.write('/opt/openshift/tls/admin-ca.crt', authority.certificate);

  t.match(await memoryCheck.run(input), { ok: true, fact: /MiB/ });
  const demanding = { ...input.settings, minMemoryMiB: 2 ** 40 };
  t.match(await memoryCheck.run({ ...input, settings: demanding }), {
    ok: false,
    problem: /at least 1099511627776 MiB/,
  });

  t.match(await diskCheck.run(input), { ok: true, fact: /\/dev\/vda has 34\.4 GB/ });
  giveDisk(host, { sizeMiB: 4096 });
  t.match(await diskCheck.run(input), { ok: false, problem: /too small.*8\.0 GB.*found 4\.3 GB/ });

  t.match(await clockCheck.run(input), { ok: true });
  const at = async (date: string) => {
    const made = await createAuthority('admin-ca', undefined, new Date(date));
    host.write('/opt/openshift/tls/admin-ca.crt', made.certificate);
    return clockCheck.run(input);
  };
  t.match(await at('2099-01-01T00:00:00Z'), { ok: false, problem: /before the Ignition/ });
  t.match(await at('1999-01-01T00:00:00Z'), { ok: false, problem: /after the certificates/ });
});

t.test('preflight runs every check, and names all that failed', async (t) => {
  const every = checks.map(({ name }) => name);
  const host = testHost(t, { hostname: 'localhost' });
  host.programs.give('ip', 'echo "[]"');
  const failure = await host.failureOf(preflight);
  t.equal(failure.kind, 'retry');
  for (const name of ['hostname', 'address', 'dns-api', 'clock', 'disk']) {
    t.match(failure.message, `${name}: `, name);
  }
  t.match(failure.message, new RegExp(`of ${every.length} checks failed`));

  const lenient = testHost(t, { hostname: 'localhost', cluster: { preflightWarnings: every } });
  lenient.programs.give('ip', 'echo "[]"');
  t.same(await lenient.run(preflight), { kind: 'done', note: `${every.length} checks` });
  t.match(lenient.lines.join(''), /Check hostname failed: .*localhost/);
  t.same(await preflight.input(lenient.context), lenient.context.cluster);
});

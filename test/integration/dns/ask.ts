/** Prints what the preflight's questions to DNS find, as JSON; the address of the host is the first argument. */
import { dnsChecks, dnsSearchCheck } from '../../../agents/steps/preflight/dns.ts';
import { addressByFamily } from '../../../lib/host/network.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';

const [address = ''] = process.argv.slice(2);
const found = { interfaceName: 'eth0', address, prefixLength: 24 };
const input = {
  paths: hostPaths(),
  settings: defaultSettings,
  cluster,
  hostname: 'edge-0.example.test',
  addresses: addressByFamily([found], ['192.0.2.0/24']),
  signal: AbortSignal.timeout(60_000),
};
const checks = [...dnsChecks, dnsSearchCheck];
const findings = await Promise.all(
  checks.map(async (check) => [check.name, await check.run(input)] as const),
);
process.stdout.write(JSON.stringify(Object.fromEntries(findings)));

import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { familyOf } from '../../lib/base/network/address.ts';
import type { Host } from '../host/host.ts';
import { SEGMENTS } from '../host/network.ts';
import { ADAPTER } from '../static-network.ts';

const APPLIED = 'Finished sno-network.service';
const FETCHES = 'Starting sno-executable.service';

/** The live host's network was configured first, before anything was downloaded. */
export async function appliedBeforeFetch(journal: string): Promise<void> {
  const text = await readFile(journal, 'utf8');
  const applied = text.indexOf(APPLIED);
  const failed = text.includes('sno-network.service: Failed');
  if (!failed && applied >= 0 && applied < text.indexOf(FETCHES)) return;
  throw new Failure('fatal', 'the network was not configured before the first download', {
    expected: `"${APPLIED}" before "${FETCHES}" in ${journal}`,
  });
}

/** The installed host has the same addresses, gateways and name servers as the live host. */
export async function networkKept(host: Host, signal: AbortSignal): Promise<void> {
  const expected = host.identity.addresses.flatMap((address) => {
    const family = familyOf(address);
    const { network, bridge } = SEGMENTS[family];
    const prefix = family === 'IPv4' ? 'IP4' : 'IP6';
    const addresses = `${prefix}.ADDRESS:${network.replace(/^.*\//, `${address}/`)}`;
    return [addresses, `${prefix}.GATEWAY:${bridge}`, `nameserver ${bridge}`];
  });
  const within = { timeoutMs: 20_000 };
  const show = ['nmcli', '--terse', '--escape', 'no', 'device', 'show', ADAPTER];
  const device = (await host.exec(show, within, signal)).stdout.replace(/\[\d+\]:/g, ':');
  const resolver = (await host.exec(['cat', '/etc/resolv.conf'], within, signal)).stdout;
  const found = `${device}\n${resolver}`.split('\n');
  const missing = expected.filter((line) => !found.includes(line));
  if (missing.length === 0) return;
  throw new Failure('fatal', 'the installed host has a different network configuration', {
    expected: missing.join(', '),
    found: found.filter((line) => /^IP[46]\.(ADDRESS|GATEWAY)|^nameserver/.test(line)).join(', '),
  });
}

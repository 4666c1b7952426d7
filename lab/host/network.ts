import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { Failure } from '../../lib/steps/failure.ts';
import { type Background, startInBackground } from './background.ts';
import { quickly } from './command.ts';
import { teardownSignal } from './mount.ts';
import type { Teardown } from './teardown.ts';

export const BRIDGE = 'snolab0';
export const BRIDGE_ADDRESS = '192.168.126.1';
export const MACHINE_NETWORK = '192.168.126.0/24';

/** A host known to DHCP and DNS. */
export interface HostIdentity {
  /** Short name, handed out by DHCP. */
  readonly name: string;
  readonly mac: string;
  readonly address: string;
}

export type DnsRecord = 'api' | 'api-int' | 'apps' | 'host';

export interface NetworkOptions {
  /** `<cluster>.<base domain>`. */
  readonly domain: string;
  /** The host that the cluster's records point at. */
  readonly host: HostIdentity;
  readonly otherHosts?: readonly HostIdentity[];
  /** Records that a broken site lacks. */
  readonly withoutRecords?: readonly DnsRecord[];
}

export interface Network {
  /** Serves DNS without these records from now on; DHCP goes on as before. */
  setMissingRecords(records: readonly DnsRecord[]): Promise<void>;
}

/** Makes the bridge and serves DHCP (one fixed address a host) and DNS on it. */
export async function startNetwork(
  options: NetworkOptions,
  folder: string,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<Network> {
  await quickly('ip', ['link', 'set', 'lo', 'up'], signal);
  await quickly('ip', ['link', 'add', BRIDGE, 'type', 'bridge', 'forward_delay', '0'], signal);
  await quickly('ip', ['address', 'add', `${BRIDGE_ADDRESS}/24`, 'dev', BRIDGE], signal);
  await quickly('ip', ['link', 'set', BRIDGE, 'up'], signal);
  let server = await startDnsmasq(options, folder);
  teardown.add('stop dnsmasq', () => stopDnsmasq(server));
  return {
    setMissingRecords: async (withoutRecords) => {
      await stopDnsmasq(server);
      server = await startDnsmasq({ ...options, withoutRecords }, folder);
    },
  };
}

async function startDnsmasq(options: NetworkOptions, folder: string): Promise<Background> {
  const log = join(folder, 'dnsmasq.log');
  const server = startInBackground('dnsmasq', dnsmasqArguments(options, folder), log);
  // It binds its sockets before anything else; an error ends it at once.
  const started = sleep(300, 'started');
  if ((await Promise.race([server.ended, started])) === 'started') return server;
  throw new Failure('fatal', 'dnsmasq did not start', {
    found: (await readTextIfPresent(log))?.trim() ?? 'no output',
  });
}

async function stopDnsmasq(server: Background): Promise<void> {
  server.child.kill('SIGTERM');
  await server.ended;
}

/** Exported for its test: which records are served decides what a fault scenario proves. */
export function dnsmasqArguments(options: NetworkOptions, folder: string): string[] {
  const { domain, host, otherHosts = [], withoutRecords = [] } = options;
  const served = (record: DnsRecord) => !withoutRecords.includes(record);
  const records: string[] = [];
  if (served('api')) records.push(`--host-record=api.${domain},${host.address}`);
  if (served('api-int')) records.push(`--host-record=api-int.${domain},${host.address}`);
  if (served('apps')) records.push(`--address=/apps.${domain}/${host.address}`);
  const hosts = [host, ...otherHosts];
  if (served('host')) {
    for (const { name, address } of hosts) {
      records.push(`--host-record=${name}.${domain},${name},${address}`);
    }
  }
  // The name goes out as DHCP option 12 and not as dnsmasq's own lease name, which
  // it would answer for even where the record is missing.
  const leases = hosts.flatMap(({ name, mac, address }) => [
    `--dhcp-host=${mac},set:${name},${address},infinite`,
    `--dhcp-option=tag:${name},12,${name}.${domain}`,
  ]);
  return [
    ...['--conf-file=/dev/null', '--keep-in-foreground', '--log-facility=-', '--user=root'],
    ...['--pid-file=', '--no-resolv', '--no-hosts', '--bind-interfaces'],
    ...[`--interface=${BRIDGE}`, '--except-interface=lo', `--domain=${domain}`],
    ...['--dhcp-range=192.168.126.0,static', '--dhcp-authoritative'],
    `--dhcp-leasefile=${join(folder, 'dhcp.leases')}`,
    ...records,
    ...leases,
  ];
}

/**
 * Makes the network namespace of a host, with an `eth0` that is plugged into the
 * bridge, and returns its path. nspawn would move an interface only when the
 * machine's udev knows it, and names and addresses its own by a hash.
 */
export async function plugIn(
  host: HostIdentity,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<string> {
  const namespace = `/run/systemd/sno-lab/net-${host.name}`;
  await mkdir(dirname(namespace), { recursive: true });
  await writeFile(namespace, '');
  await quickly('unshare', [`--net=${namespace}`, 'true'], signal);
  const port = `p-${host.name}`.slice(0, 15);
  teardown.add(`unplug ${host.name}`, async () => {
    await quickly('ip', ['link', 'delete', port], teardownSignal()).catch(() => undefined);
    await quickly('umount', [namespace], teardownSignal());
    await rm(namespace);
  });
  const peer = ['peer', 'name', 'eth0', 'address', host.mac, 'netns', namespace];
  await quickly('ip', ['link', 'add', port, 'type', 'veth', ...peer], signal);
  await quickly('ip', ['link', 'set', port, 'master', BRIDGE, 'up'], signal);
  return namespace;
}

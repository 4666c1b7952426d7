import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type Family, familyOf, urlHost } from '../../lib/base/network/address.ts';
import { readTextIfPresent } from '../../lib/host/files.ts';
import { type Background, startInBackground } from './background.ts';
import { quickly } from './command.ts';
import { teardownSignal } from './mount.ts';
import type { Teardown } from './teardown.ts';

export const BRIDGE = 'snolab0';
/** The site's network for each possible family, with the bridge's address in it. */
export const SEGMENTS: Readonly<Record<Family, { network: string; bridge: string }>> = {
  IPv4: { network: '192.168.126.0/24', bridge: '192.168.126.1' },
  IPv6: { network: 'fd00:126::/64', bridge: 'fd00:126::1' },
};
export const BRIDGE_ADDRESS = SEGMENTS.IPv4.bridge;

/** A bridge, and its networks. */
export interface Place {
  readonly bridge: string;
  readonly segments: typeof SEGMENTS;
}

/** Where hosts are installed. */
export const FACTORY: Place = { bridge: BRIDGE, segments: SEGMENTS };
/** Where a relocated host is set up. */
export const SITE: Place = {
  bridge: 'snolab1',
  segments: {
    IPv4: { network: '10.77.0.0/24', bridge: '10.77.0.1' },
    IPv6: { network: 'fd00:77::/64', bridge: 'fd00:77::1' },
  },
};
/** Where it is set up again. */
export const SECOND_SITE: Place = {
  bridge: 'snolab2',
  segments: {
    IPv4: { network: '10.88.0.0/24', bridge: '10.88.0.1' },
    IPv6: { network: 'fd00:88::/64', bridge: 'fd00:88::1' },
  },
};

/** A host known to DHCP and DNS. */
export interface HostIdentity {
  /** Short name, assigned by DHCP. */
  readonly name: string;
  readonly mac: string;
  /** Primary address first; the site has their families. */
  readonly addresses: readonly [string, ...string[]];
  /** What it is plugged into. Default: that of the factory. */
  readonly bridge?: string;
}

export type DnsRecord = 'api' | 'api-int' | 'apps' | 'host';

export interface NetworkOptions {
  /** `<cluster>.<base domain>`. */
  readonly domain: string;
  /** The target of the cluster's DNS records. */
  readonly host: HostIdentity;
  readonly otherHosts?: readonly HostIdentity[];
  /** Records missing at a misconfigured site. */
  readonly withoutRecords?: readonly DnsRecord[];
  /** false: no DHCP and no router advertisements. Default: true. */
  readonly dhcp?: boolean;
  /**
   * false: nothing answers DNS queries. `authoritative`: names of the domain without a record do not
   * exist; otherwise queries for them are refused. Default: true.
   */
  readonly dns?: boolean | 'authoritative';
  /** Of DHCP, as dnsmasq writes it; two minutes are its shortest. Default: infinite. */
  readonly leaseTime?: string;
  /** What DHCP tells firmware that boots from the network. */
  readonly bootFile?: string;
  /** What DHCP tells a sealed node: where it asks for its volume. */
  readonly siteUrl?: string;
  /** Default: that of the factory. */
  readonly place?: Place;
}

export interface Network {
  /** From now on DHCP has these addresses for the host, and DNS too; it gets them when it renews its lease. */
  moveHost(addresses: HostIdentity['addresses']): Promise<void>;
  /** As if the leases of DHCP had expired: the live system that wrote the disk of a host has another DUID. */
  forgetLeases(): Promise<void>;
  /** From now on serves DNS without these records; DHCP is unaffected. */
  setMissingRecords(records: readonly DnsRecord[]): Promise<void>;
}

/**
 * Creates the bridge and serves DHCP (a fixed address for each host), DNS and, for IPv6, router
 * advertisements on it.
 */
export async function startNetwork(
  options: NetworkOptions,
  folder: string,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<Network> {
  await quickly('ip', ['link', 'set', 'lo', 'up'], signal);
  const { bridge, segments } = options.place ?? FACTORY;
  await quickly('ip', ['link', 'add', bridge, 'type', 'bridge', 'forward_delay', '0'], signal);
  for (const address of bridgeAddresses(familiesOf(options.host), segments)) {
    await quickly('ip', ['address', 'add', ...address, 'dev', bridge], signal);
  }
  await quickly('ip', ['link', 'set', bridge, 'up'], signal);
  let server = await startDnsmasq(options, folder);
  teardown.add('stop dnsmasq', () => stopDnsmasq(server));
  let served = options;
  const serve = async (changed: Partial<NetworkOptions>, meanwhile = async () => {}) => {
    served = { ...served, ...changed };
    await stopDnsmasq(server);
    await meanwhile();
    server = await startDnsmasq(served, folder);
  };
  const leases = leaseFile(options.place ?? FACTORY, folder);
  return {
    forgetLeases: () => serve({}, () => rm(leases, { force: true })),
    moveHost: (addresses) => serve({ host: { ...served.host, addresses } }),
    setMissingRecords: (withoutRecords) => serve({ withoutRecords }),
  };
}

/**
 * IPv6 without duplicate address detection, which would only start when the first host is
 * plugged in, and dnsmasq could not bind before. The link-local address is set for the same reason.
 */
function bridgeAddresses(families: readonly Family[], segments: Place['segments']): string[][] {
  return families.flatMap((family) => {
    const { network, bridge } = segments[family];
    const address = network.replace(/^.*\//, `${bridge}/`);
    if (family === 'IPv4') return [[address]];
    return [
      [address, 'nodad'],
      ['fe80::1/64', 'scope', 'link', 'nodad'],
    ];
  });
}

function familiesOf({ addresses }: HostIdentity): Family[] {
  return addresses.map(familyOf);
}

async function startDnsmasq(options: NetworkOptions, folder: string): Promise<Background> {
  const log = join(folder, `dnsmasq-${(options.place ?? FACTORY).bridge}.log`);
  const server = startInBackground('dnsmasq', dnsmasqArguments(options, folder), log);
  // It binds its sockets first; if that fails, it exits at once.
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

/** Exported for its test: the served records decide what a fault scenario proves. */
export function dnsmasqArguments(options: NetworkOptions, folder: string): string[] {
  const { domain, host, otherHosts = [], withoutRecords = [], dhcp = true, dns = true } = options;
  const { bridge } = options.place ?? FACTORY;
  const served = (record: DnsRecord) => !withoutRecords.includes(record);
  const records: string[] = [];
  const own = host.addresses.join(',');
  if (served('api')) records.push(`--host-record=api.${domain},${own}`);
  if (served('api-int')) records.push(`--host-record=api-int.${domain},${own}`);
  if (served('apps')) {
    records.push(...host.addresses.map((address) => `--address=/apps.${domain}/${address}`));
  }
  const hosts = [host, ...otherHosts];
  if (served('host')) {
    for (const { name, addresses } of hosts) {
      records.push(`--host-record=${name}.${domain},${name},${addresses.join(',')}`);
    }
  }
  return [
    ...['--conf-file=/dev/null', '--keep-in-foreground', '--log-facility=-', '--user=root'],
    ...['--pid-file=', '--no-resolv', '--no-hosts', '--bind-interfaces'],
    ...[`--interface=${bridge}`, '--except-interface=lo', `--domain=${domain}`],
    ...(dns ? records : ['--port=0']),
    ...(dns === 'authoritative' ? [`--local=/${domain}/`] : []),
    ...(dhcp ? dhcpArguments(options, hosts, folder) : []),
  ];
}

function dhcpArguments(
  { domain, host, leaseTime = 'infinite', bootFile, siteUrl, place = FACTORY }: NetworkOptions,
  hosts: readonly HostIdentity[],
  folder: string,
): string[] {
  // The name is sent as DHCP option 12 and not as dnsmasq's own lease name, for which it would
  // answer queries even if the record is meant to be missing.
  const leases = hosts.flatMap(({ name, mac, addresses }) => [
    `--dhcp-host=${mac},set:${name},${addresses.map(urlHost).join(',')},${leaseTime}`,
    `--dhcp-option=tag:${name},12,${name}.${domain}`,
  ]);
  return [
    '--dhcp-authoritative',
    ...familiesOf(host).flatMap((family) => dhcpRange(family, place)),
    `--dhcp-leasefile=${leaseFile(place, folder)}`,
    ...leases,
    ...(bootFile === undefined ? [] : [`--dhcp-boot=${bootFile}`]),
    // Whether or not it asks for the option.
    ...(siteUrl === undefined ? [] : [`--dhcp-option-force=224,${siteUrl}`]),
  ];
}

const leaseFile = ({ bridge }: Place, folder: string): string => join(folder, `${bridge}.leases`);

/** Only known hosts get an address; with IPv6, router advertisements tell them to request it. */
function dhcpRange(family: Family, { segments }: Place): string[] {
  const [address, length] = segments[family].network.split('/');
  return family === 'IPv4'
    ? [`--dhcp-range=${address},static`]
    : ['--enable-ra', `--dhcp-range=${address},static,${length}`];
}

/** The end of its cable in the switch. */
export const portOf = ({ name }: Pick<HostIdentity, 'name'>): string => `p-${name}`.slice(0, 15);

/**
 * Creates a host's network namespace, with an `eth0` plugged into the bridge, and returns its
 * path. nspawn moves an interface only if the machine's udev knows it, and derives the names and
 * addresses of its own ones from a hash.
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
  const port = portOf(host);
  teardown.add(`unplug ${host.name}`, async () => {
    await quickly('ip', ['link', 'delete', port], teardownSignal()).catch(() => undefined);
    await quickly('umount', [namespace], teardownSignal());
    await rm(namespace);
  });
  const peer = ['peer', 'name', 'eth0', 'address', host.mac, 'netns', namespace];
  await quickly('ip', ['link', 'add', port, 'type', 'veth', ...peer], signal);
  await quickly('ip', ['link', 'set', port, 'master', host.bridge ?? BRIDGE, 'up'], signal);
  return namespace;
}

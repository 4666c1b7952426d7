import { join } from 'node:path';
import type { Family } from '../lib/base/network/address.ts';
import { createDisk, type Disk } from './host/disk.ts';
import {
  type DnsRecord,
  type HostIdentity,
  type Network,
  type NetworkOptions,
  startNetwork,
} from './host/network.ts';
import type { Teardown } from './host/teardown.ts';

export const CLUSTER = { name: 'lab', baseDomain: 'example.test' } as const;
export const DOMAIN = `${CLUSTER.name}.${CLUSTER.baseDomain}`;
/** Inside the host, whatever the loop device is. */
export const DISK = '/dev/disk/by-id/virtio-sno-disk';
const DISK_BYTES = 12 * 1024 ** 3;

export const host = { name: 'sno', mac: '52:54:00:00:00:0a' } as const;
const ADDRESSES: Readonly<Record<Family, string>> = {
  IPv4: '192.168.126.10',
  IPv6: 'fd00:126::10',
};

/** The families of a site's network, the primary one first. */
export type Families = readonly [Family] | readonly [Family, Family];

/** The host as known to the site's DHCP and DNS. */
export function hostOf([primary, secondary]: Families): HostIdentity {
  const others = secondary === undefined ? [] : [ADDRESSES[secondary]];
  return { ...host, addresses: [ADDRESSES[primary], ...others] };
}

/** One edge site: a network with DNS and usually DHCP, and a host's empty disk. */
export interface Site {
  readonly folder: string;
  readonly network: Network;
  readonly host: HostIdentity;
  readonly disk: Disk;
}

export interface SiteOptions {
  readonly withoutRecords?: readonly DnsRecord[];
  /** Default: IPv4 only. */
  readonly families?: Families;
  /** false: only hosts with static configuration get an address. Default: true. */
  readonly dhcp?: boolean;
  readonly dns?: NetworkOptions['dns'];
  readonly leaseTime?: NetworkOptions['leaseTime'];
  readonly bootFile?: NetworkOptions['bootFile'];
  /** Known to DHCP and DNS beside the host of the control plane. */
  readonly otherHosts?: readonly HostIdentity[];
}

/** Of one more host, in a folder of its own. */
export const emptyDisk = (folder: string): Promise<Disk> =>
  createDisk(join(folder, 'disk.raw'), DISK_BYTES);

export async function openSite(
  folder: string,
  {
    withoutRecords = [],
    families = ['IPv4'],
    dhcp = true,
    dns = true,
    otherHosts = [],
    leaseTime,
    bootFile,
  }: SiteOptions,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<Site> {
  const identity = hostOf(families);
  const served = { otherHosts, withoutRecords, dhcp, dns, ...(leaseTime && { leaseTime }) };
  const options = { domain: DOMAIN, host: identity, ...served, ...(bootFile && { bootFile }) };
  const network = await startNetwork(options, folder, teardown, signal);
  const disk = await emptyDisk(folder);
  return { folder, network, host: identity, disk };
}

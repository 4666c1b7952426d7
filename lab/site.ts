import { join } from 'node:path';
import { createDisk, type Disk } from './host/disk.ts';
import { type DnsRecord, type HostIdentity, type Network, startNetwork } from './host/network.ts';
import type { Teardown } from './host/teardown.ts';

export const CLUSTER = { name: 'lab', baseDomain: 'example.test' } as const;
export const DOMAIN = `${CLUSTER.name}.${CLUSTER.baseDomain}`;
/** Inside the host, whatever loop device it is. */
export const DISK = '/dev/disk/by-id/virtio-sno-disk';
const DISK_BYTES = 12 * 1024 ** 3;

export const host: HostIdentity = {
  name: 'sno',
  mac: '52:54:00:00:00:0a',
  address: '192.168.126.10',
};

/** One edge site: a network with DHCP and DNS, and a host's empty disk. */
export interface Site {
  readonly folder: string;
  readonly network: Network;
  readonly disk: Disk;
}

export interface SiteOptions {
  readonly withoutRecords?: readonly DnsRecord[];
}

export async function openSite(
  folder: string,
  { withoutRecords = [] }: SiteOptions,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<Site> {
  const options = { domain: DOMAIN, host, withoutRecords };
  const network = await startNetwork(options, folder, teardown, signal);
  const disk = await createDisk(join(folder, 'disk.raw'), DISK_BYTES);
  return { folder, network, disk };
}

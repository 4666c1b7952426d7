import { bootDiskHost, type DiskHostOptions } from './disk-host.ts';
import type { Host } from './host.ts';
import { bootLiveHost, type LiveHostOptions } from './live-host.ts';

/** A way to run hosts: in containers, or as machines (../machine/machines.ts). The scenarios are the same. */
export interface Hosts {
  readonly are: 'containers' | 'machines';
  /** Whether the medium is in the drive after the installation too: the boot order decides what starts. */
  readonly mediumStays: boolean;
  /** Boots a live image: everything the host writes, except to its disk, is discarded at its end. */
  bootLive(options: LiveHostOptions, signal: AbortSignal): Promise<Host>;
  /** Boots from the disk. Ignition runs before the first boot. */
  bootDisk(options: DiskHostOptions, signal: AbortSignal): Promise<Host>;
}

/** Quick, and with this machine's kernel: no firmware, boot loader or initramfs, and the Ignition config is given to them. */
export const containers: Hosts = {
  are: 'containers',
  mediumStays: false,
  bootLive: bootLiveHost,
  bootDisk: bootDiskHost,
};

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Component } from './component.ts';

/**
 * What a CoreOS live image and its installed system bring along and the agents,
 * kubelet, containerd, coreos-installer and Ignition use at run time.
 */
const packages = [
  ...['systemd-sysv', 'libpam-systemd', 'dbus', 'udev', 'kmod', 'network-manager'],
  ...['containerd', 'runc', 'iptables', 'nftables', 'conntrack', 'iproute2', 'ethtool', 'socat'],
  ...['e2fsprogs', 'util-linux', 'mount', 'fdisk', 'gdisk', 'dosfstools', 'passwd', 'login'],
  ...['procps', 'hostname', 'iputils-ping', 'less', 'jq', 'curl', 'ca-certificates', 'sudo'],
  ...['gzip', 'xz-utils', 'zstd', 'libssl3', 'liblzma5', 'libzstd1'],
];

/** Not needed on a host, and half of the size. */
const dropped = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'var/cache/apt',
  'var/lib/apt/lists',
];

/** A plain Debian 12 with a container runtime, as debootstrap leaves it. */
export const debianBase: Component = {
  name: 'debian-base',
  version: 'bookworm',
  recipe: [import.meta.filename],
  build: async (target, { signal, report }) => {
    report('debootstrap bookworm');
    const tree = join(target, 'tree');
    const archive = process.env.SNO_LAB_DEBIAN_MIRROR || 'http://deb.debian.org/debian';
    const include = `--include=${packages.join(',')}`;
    const debootstrap = ['debootstrap', '--variant=minbase', include, 'bookworm', tree, archive];
    // Its mounts of /proc end with the namespace, also when it is interrupted.
    await execa('unshare', ['-m', '-p', '-f', '--kill-child', '--mount-proc', ...debootstrap], {
      cancelSignal: signal,
      timeout: 15 * 60_000,
      all: true,
    });
    for (const folder of dropped) await empty(join(tree, folder));
  },
};

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

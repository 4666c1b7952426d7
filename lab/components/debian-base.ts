import { join } from 'node:path';
import type { Component } from './component.ts';
import { debootstrap } from './debootstrap.ts';

/**
 * What a CoreOS live image and its installed system bring along and the agents,
 * kubelet, containerd, coreos-installer and Ignition use at run time.
 */
const packages = [
  ...['systemd-sysv', 'libpam-systemd', 'dbus', 'udev', 'kmod', 'network-manager'],
  ...['containerd', 'runc', 'iptables', 'nftables', 'conntrack', 'iproute2', 'ethtool', 'socat'],
  ...['e2fsprogs', 'util-linux', 'mount', 'fdisk', 'gdisk', 'dosfstools', 'passwd', 'login'],
  ...['procps', 'hostname', 'iputils-ping', 'less', 'jq', 'curl', 'ca-certificates', 'sudo'],
  ...[
    'gzip',
    'xz-utils',
    'zstd',
    'libssl3',
    'liblzma5',
    'libzstd1',
    'openssh-client',
    'libarchive-tools',
  ],
];

/** A plain Debian 12 with a container runtime, as debootstrap leaves it. */
export const debianBase: Component = {
  name: 'debian-base',
  version: 'bookworm',
  recipe: [import.meta.filename, join(import.meta.dirname, 'debootstrap.ts')],
  build: async (target, { signal, report }) => {
    report('debootstrap bookworm');
    await debootstrap(join(target, 'tree'), packages, signal);
  },
};

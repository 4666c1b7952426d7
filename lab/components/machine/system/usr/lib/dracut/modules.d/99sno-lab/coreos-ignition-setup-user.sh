#!/bin/bash
# Puts the config where Ignition's platform "metal" reads it: of a live image from the archive
# that the boot loader appended to the initramfs, of an installed system from /boot.
set -euo pipefail
mkdir -p /usr/lib/ignition
config=/config.ign
if ! is-live-image; then
  mkdir -p /mnt/boot_partition
  mount -o ro /dev/disk/by-label/boot /mnt/boot_partition
  config=/mnt/boot_partition/ignition/config.ign
fi
if [ -f "$config" ]; then
  cp "$config" /usr/lib/ignition/user.ign
fi

#!/bin/bash
# The table's copy goes to the end of the disk, whose identifier is no longer that of every
# image; then the root partition and its file system grow.
set -euo pipefail
root=$(readlink -f /dev/disk/by-label/root)
number=$(cat "/sys/class/block/${root##*/}/partition")
disk=/dev/$(lsblk --nodeps --noheadings --output PKNAME "$root")
sgdisk --disk-guid=R --move-second-header "$disk"
echo ', +' | sfdisk --no-reread --force -N "$number" "$disk"
partx --update --nr "$number" "$disk"
udevadm settle
mount "$root" /sysroot
resize2fs "$root"
umount /sysroot

#!/bin/bash
# The table's copy goes to the end of the disk, whose identifier is no longer that of every
# image; then the root partition and its file system grow. The root is mounted before the table
# is written: otherwise udev reads the table again, the root's device is gone for a moment, and
# systemd gives up what needs it.
set -euo pipefail
root=$(readlink -f /dev/disk/by-label/root)
number=$(cat "/sys/class/block/${root##*/}/partition")
disk=/dev/$(lsblk --nodeps --noheadings --output PKNAME "$root")
mount "$root" /sysroot
table=(sfdisk --no-reread --no-tell-kernel)
"${table[@]}" --disk-id "$disk" "$(cat /proc/sys/kernel/random/uuid)"
echo ', +' | "${table[@]}" --force -N "$number" "$disk"
partx --update --nr "$number" "$disk"
udevadm settle
resize2fs "$root"
umount /sysroot

#!/bin/sh
# in-tree.sh TREE COMMAND...: runs a command in the tree as on a machine. It is called in a
# mount namespace of its own, so that no mount outlives it, however it ends.
set -eu
tree=$1
shift
mount -t proc proc "$tree/proc"
mount -t sysfs -o ro sysfs "$tree/sys"
mount -t tmpfs tmpfs "$tree/run"
mount -t tmpfs tmpfs "$tree/tmp"
mount --rbind /dev "$tree/dev"
exec chroot "$tree" "$@"

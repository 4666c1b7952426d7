#!/bin/sh
# in-tree.sh TREE WORK COMMAND...: runs a command in the tree as on a machine; the folder WORK, unless it is empty, is
# /run/work there. It is called in a mount namespace of its own, so that no mount outlives it, however it ends.
set -eu
tree=$1
work=$2
shift 2
mount -t proc proc "$tree/proc"
mount -t sysfs -o ro sysfs "$tree/sys"
mount -t tmpfs tmpfs "$tree/run"
mount -t tmpfs tmpfs "$tree/tmp"
if [ -n "$work" ]; then
  mkdir "$tree/run/work"
  mount --bind "$work" "$tree/run/work"
fi
mount --rbind /dev "$tree/dev"
exec chroot "$tree" "$@"

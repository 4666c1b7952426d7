#!/bin/bash
# /var of the stateroot while Ignition writes: ostree-system-generator mounts it later than that.
set -euo pipefail
if [ "$1" = unmount ]; then
  exec umount /sysroot/var
fi
deployment=
for word in $(cat /proc/cmdline); do
  case $word in ostree=*) deployment=${word#ostree=} ;; esac
done
mount --bind "$(readlink -f "/sysroot/sysroot$deployment")/../../var" /sysroot/var

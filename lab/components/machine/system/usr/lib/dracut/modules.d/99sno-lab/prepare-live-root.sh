#!/bin/bash
# As CoreOS's live-generator does: /etc and /var of a live system are writable, in memory. A tmpfs loses the labels of
# files that are written before SELinux's policy is loaded: a file system in a file, whose memory is taken as it fills.
set -euo pipefail
cd /sysroot
mkdir -p /run/ephemeral_base /run/ephemeral
mount -t tmpfs -o size=50%,mode=0755 tmpfs /run/ephemeral_base
image=/run/ephemeral_base/loopfs
truncate -s "$(($(stat -f -c '%b * %S' /run/ephemeral_base)))" "$image"
mkfs.ext4 -q -O ^has_journal -m 0 -E nodiscard "$image"
mount -o loop,discard "$image" /run/ephemeral
for folder in etc var; do
  cp -a "$folder" /run/ephemeral/
  mount --bind "/run/ephemeral/$folder" "$folder"
done

#!/bin/bash
# As ostree-prepare-root and CoreOS's live-generator do: only /etc and /var are writable.
set -euo pipefail
cd /sysroot
if is-live-image; then
  # Of its own, since that of /run is small.
  mkdir -p /run/ephemeral
  mount -t tmpfs -o size=50%,mode=0755 tmpfs /run/ephemeral
  for folder in etc var; do
    cp -a "$folder" /run/ephemeral/
    mount --bind "/run/ephemeral/$folder" "$folder"
  done
  # Before the policy is loaded, a tmpfs keeps no labels.
  mkdir -p /run/systemd/relabel-extra.d
  printf '/etc\n/var\n' > /run/systemd/relabel-extra.d/live.relabel
  exit
fi
chattr +i /sysroot
mount --bind usr usr
mount -o remount,bind,ro usr

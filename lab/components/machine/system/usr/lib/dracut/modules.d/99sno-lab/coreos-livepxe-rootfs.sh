#!/bin/bash
# The root file system came as a second initramfs, or is fetched.
. /usr/lib/dracut-lib.sh
set -o pipefail
url=$(getarg coreos.live.rootfs_url=)
if [ -f /root.squashfs ]; then
  exit 0
fi
if [ -z "$url" ]; then
  echo "No rootfs image: add it as a second initrd, or set coreos.live.rootfs_url." >&2
  exit 1
fi
# A server that does not answer yet is asked again, as Ignition does.
until curl -sS --head --insecure --location "$url" > /dev/null; do
  sleep 5
done
cd /
curl -sS --fail --insecure --location --retry 5 "$url" | cpio --extract --quiet

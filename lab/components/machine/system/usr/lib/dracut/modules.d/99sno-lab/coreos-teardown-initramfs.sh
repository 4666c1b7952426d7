#!/bin/bash
# The network of the initramfs ends; its profiles become the system's if it has none of its
# own, unless they are only the default (DHCP on everything).
. /usr/lib/dracut-lib.sh
from=/run/NetworkManager/system-connections
into=/sysroot/etc/NetworkManager/system-connections
for device in /sys/class/net/*; do
  name=${device##*/}
  [ "$name" = lo ] && continue
  ip link set "$name" down
  ip addr flush dev "$name"
done
ip route flush table main
if [ -z "$(ls -A "$into" 2> /dev/null)" ] && [ -n "$(ls -A "$from" 2> /dev/null)" ]; then
  if [ -n "$(ls -A /etc/coreos-firstboot-network 2> /dev/null)" ] ||
    getargs ip= | grep -qv '^auto$\|^dhcp$'; then
    mkdir -p "$into"
    cp "$from"/* "$into"/
    rm -f "$into/lo.nmconnection"
    chmod 0600 "$into"/*
  fi
fi
rm -rf /run/NetworkManager

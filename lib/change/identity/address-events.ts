/**
 * NetworkManager calls the scripts in this folder with an interface and an event (NetworkManager-dispatcher(8)). For
 * IPv6, whose addresses `sno-address.socket` does not notice, and for hosts on which it may not listen. It alone is not
 * enough: NetworkManager 1.42 has no event for a lease that is refused when it is to be renewed.
 */
export const addressEvents = {
  path: '/etc/NetworkManager/dispatcher.d/90-sno-address',
  /** Others are not called. */
  mode: 0o755,
  contents: `#!/bin/sh
# Has sno-address look whether this host still has the addresses of its Node.
case "$2" in
  up | reapply | dhcp4-change | dhcp6-change) ;;
  *) exit 0 ;;
esac
exec systemctl --no-block start sno-address.service
`,
} as const;

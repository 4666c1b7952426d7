/** The names of ethtool and of the kernel that NetworkManager knows (nm_dbus/connection/ethtool.rs). */
export const FEATURES = `
esp-hw-offload esp-tx-csum-hw-offload fcoe-mtu generic-receive-offload
generic-segmentation-offload gro gso highdma hw-tc-offload l2-fwd-offload large-receive-offload
loopback lro macsec-hw-offload ntuple ntuple-filters receive-hashing rx rx-all rx-checksum
rx-checksumming rx-fcs rx-gro rx-gro-hw rx-gro-list rx-hashing rx-lro rx-ntuple-filter
rx-udp-gro-forwarding rx-udp_tunnel-port-offload rx-vlan-filter rx-vlan-hw-parse rx-vlan-offload
rx-vlan-stag-filter rx-vlan-stag-hw-parse rxhash rxvlan sg tcp-segmentation-offload
tls-hw-record tls-hw-rx-offload tls-hw-tx-offload tso tx tx-checksum-fcoe-crc
tx-checksum-ip-generic tx-checksum-ipv4 tx-checksum-ipv6 tx-checksum-sctp tx-esp-segmentation
tx-fcoe-segmentation tx-generic-segmentation tx-gre-csum-segmentation tx-gre-segmentation
tx-gso-list tx-gso-partial tx-gso-robust tx-ipxip4-segmentation tx-ipxip6-segmentation
tx-nocache-copy tx-scatter-gather tx-scatter-gather-fraglist tx-sctp-segmentation
tx-tcp-ecn-segmentation tx-tcp-mangleid-segmentation tx-tcp-segmentation tx-tcp6-segmentation
tx-tunnel-remcsum-segmentation tx-udp-segmentation tx-udp_tnl-csum-segmentation
tx-udp_tnl-segmentation tx-vlan-hw-insert tx-vlan-offload tx-vlan-stag-hw-insert txvlan
`
  .trim()
  .split(/\s+/);

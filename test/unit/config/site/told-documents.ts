/** What `nmstatectl show` and NodeNetworkState print of a host, which people copy; nmstate accepts each. */
export const TOLD: Readonly<Record<string, string>> = {
  'an adapter, with its routes': `
dns-resolver:
  running: {server: [10.0.0.2], search: [example.com]}
  config: {server: [10.0.0.2], search: [example.com]}
route-rules:
  config:
  - {ip-from: 10.9.0.0/24, priority: 30000, route-table: 200, family: ipv4}
  - {priority: 0, route-table: 255, family: ipv4}
  - {priority: 30, family: ipv4, ip-from: 10.0.0.0/14, ip-to: "", route-table: 7, fwmark: 4919, fwmask: 8191, suppress-prefix-length: 0}
routes:
  running:
  - {destination: 10.0.0.0/24, next-hop-interface: eno1, next-hop-address: 0.0.0.0, metric: 100, table-id: 254}
  config:
  - {destination: 0.0.0.0/0, next-hop-interface: eno1, next-hop-address: 10.0.0.1, metric: 100, table-id: 254}
  - {destination: 10.0.0.0/24, next-hop-interface: eno1, next-hop-address: 0.0.0.0, metric: 100, table-id: 254, source: 10.0.0.5}
  - {destination: 10.0.0.5/32, next-hop-interface: eno1, next-hop-address: 0.0.0.0, metric: 0, table-id: 255, source: 10.0.0.5}
  - {destination: "fe80::/64", next-hop-interface: eno1, next-hop-address: "::", metric: 1024, table-id: 254}
  - {destination: 10.7.0.0/16, route-type: blackhole, metric: 0, table-id: 254}
interfaces:
- name: lo
  type: loopback
  state: up
  identifier: name
  accept-all-mac-addresses: false
  min-mtu: 0
  max-mtu: 0
  mac-address: "00:00:00:00:00:00"
  mtu: 65536
  ipv4: {enabled: true, address: [{ip: 127.0.0.1, prefix-length: 8}]}
  ipv6: {enabled: true, address: [{ip: "::1", prefix-length: 128}]}
  lldp: {enabled: false}
- name: eno1
  profile-name: Wired connection 1
  type: ethernet
  driver: ixgbe
  state: up
  identifier: name
  mac-address: "52:54:00:00:00:01"
  permanent-mac-address: "52:54:00:00:00:01"
  pci-address: "0000:01:00.0"
  alt-names: [{name: enp1s0}, {name: enx525400000001}]
  mtu: 1500
  min-mtu: 68
  max-mtu: 9710
  wait-ip: any
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.0.0.5, prefix-length: 24}]}
  ipv6:
    enabled: true
    dhcp: false
    autoconf: false
    addr-gen-mode: eui64
    address: [{ip: "fe80::5054:ff:fe00:1", prefix-length: 64}]
  mptcp: {address-flags: []}
  accept-all-mac-addresses: false
  lldp: {enabled: false}
  ethtool:
    feature: {rx-gro: true, tx-generic-segmentation: true}
    coalesce: {adaptive-rx: true, rx-usecs: 3}
    ring: {rx: 512, rx-max: 4096, tx: 512, tx-max: 4096}
    pause: {autoneg: false, rx: false, tx: false}
  ethernet: {speed: 10000, duplex: full, auto-negotiation: true, sr-iov: {drivers-autoprobe: true, total-vfs: 0, vfs: []}}
- {name: eno2, type: ethernet, state: down, ipv4: {enabled: false, address: []}, ipv6: {enabled: false, address: []}}
- {name: tun0, type: tun, state: ignore}
- {name: wlp3s0, type: wifi, state: ignore}
- {name: cni0, type: linux-bridge, state: ignore, ipv4: {enabled: true, address: [{ip: 10.128.0.1, prefix-length: 24}]}}
- {name: genev_sys_6081, type: unknown, state: ignore}
`,
  'a bond': `
interfaces:
- name: bond0
  type: bond
  state: up
  ipv4: {enabled: true, dhcp: false, address: [{ip: 10.0.0.5, prefix-length: 24}]}
  ipv6: {enabled: false}
  link-aggregation:
    mode: active-backup
    options:
      all_slaves_active: dropped
      arp_all_targets: any
      arp_interval: 0
      arp_ip_target: ""
      arp_validate: none
      downdelay: 0
      fail_over_mac: none
      miimon: 100
      ns_ip6_target: []
      num_grat_arp: 1
      num_unsol_na: 1
      primary: ""
      primary_reselect: always
      resend_igmp: 1
      updelay: 0
      use_carrier: true
    port: [eno1, eno2]
    ports-config: [{name: eno1, priority: 0, queue-id: 0}, {name: eno2, priority: 0, queue-id: 0}]
- {name: eno1, type: ethernet, state: up, mac-address: "52:54:00:00:00:01", permanent-mac-address: "52:54:00:00:00:01", controller: bond0, ipv4: {enabled: false}, ipv6: {enabled: false}}
- {name: eno2, type: ethernet, state: up, mac-address: "52:54:00:00:00:01", permanent-mac-address: "52:54:00:00:00:02", controller: bond0}
routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: bond0, next-hop-address: 10.0.0.1}]}
`,
  'two VRFs': `
interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}
- {name: eno2, type: ethernet, state: up, controller: vrf0, ipv4: {enabled: true, address: [{ip: 10.1.0.5, prefix-length: 24}]}}
- {name: eno3, type: ethernet, state: up, controller: vrf1, ipv4: {enabled: true, address: [{ip: 10.1.0.5, prefix-length: 24}]}}
- {name: vrf0, type: vrf, state: up, mtu: 65575, vrf: {port: [eno2], route-table-id: 100}}
- {name: vrf1, type: vrf, state: up, mtu: 65575, vrf: {port: [eno3], route-table-id: "0x65"}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1}
  - {destination: 0.0.0.0/0, next-hop-address: 10.1.0.1, next-hop-interface: eno2, vrf-name: vrf0}
  - {destination: 0.0.0.0/0, next-hop-address: 10.1.0.1, next-hop-interface: eno3, vrf-name: vrf1, table-id: 101}
`,
  'a router behind a route on the link': `
interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}, ipv6: {enabled: true, address: [{ip: "fd00::5", prefix-length: 64}]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 10.9.0.1, next-hop-interface: eno1}
  - {destination: 10.9.0.0/24, next-hop-address: 0.0.0.0, next-hop-interface: eno1}
  - {destination: "fd01::/64", next-hop-address: "0::0", next-hop-interface: eno1}
`,
  'name servers of both families, in any order': `
dns-resolver: {config: {server: [10.0.0.2, "fd00::2", 10.0.0.3], search: [example.com]}}
interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}, ipv6: {enabled: true, address: [{ip: "fd00::5", prefix-length: 64}]}}
`,
};

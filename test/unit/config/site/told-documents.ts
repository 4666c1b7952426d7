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
  'adapters with all that they have, and what is made of them': `
interfaces:
- name: eno1
  type: ethernet
  state: up
  ipv4: {enabled: true, dhcp: false, forwarding: false, address: [{ip: 10.0.0.5, prefix-length: 24, protocol: kernel_ll},{ip: 10.0.0.6, prefix-length: 32, valid-life-time: 3000sec, preferred-life-time: 3000sec, protocol: "0x12"}]}
  ipv6: {enabled: true, dhcp: false, autoconf: false, addr-gen-mode: eui64, token: "::", address: [{ip: "fe80::1", prefix-length: 64, protocol: kernel_ll},{ip: "fd00::5", prefix-length: 64, protocol: ra}]}
  lldp:
    enabled: true
    neighbors:
    - - {type: 5, system-name: Summit300-48}
      - {type: 7, system-capabilities: [MAC Bridge component, Router]}
      - {type: 1, _description: "MAC address", chassis-id: "00:01:30:F9:AD:A0", chassis-id-type: 4}
  ethtool:
    pause: {rx: true, tx: true, autoneg: true}
    fec: {auto: false, mode: baser}
    coalesce: {adaptive-rx: false, adaptive-tx: false, pkt-rate-high: 0, pkt-rate-low: 0, rx-frames: 0, rx-frames-high: 0, rx-frames-irq: 0, rx-frames-low: 0, rx-usecs: 3, rx-usecs-high: 0, rx-usecs-irq: 0, rx-usecs-low: 0, sample-interval: 0, stats-block-usecs: 0, tx-frames: 0, tx-frames-high: 0, tx-frames-irq: 0, tx-frames-low: 0, tx-usecs: 0, tx-usecs-high: 0, tx-usecs-irq: 0, tx-usecs-low: 0}
    ring: {rx: 256, rx-max: 4096, rx-jumbo: 0, rx-jumbo-max: 0, rx-mini: 0, rx-mini-max: 0, tx: 256, tx-max: 4096}
  ethernet:
    auto-negotiation: false
    speed: 0
    duplex: full
    sr-iov: {total-vfs: 1, max-vfs: 8, drivers-autoprobe: true, vfs: [{id: 0, iface-name: "", mac-address: "fe:de:ad:be:ef:01", spoof-check: true, trust: false, min-tx-rate: 0, max-tx-rate: 0, vlan-id: 0, qos: 0, vlan-proto: 802.1q}]}
- {name: ipv0, type: ipvlan, state: up, ipvlan: {mode: l2, base-iface: eno1, private: false, vepa: false}}
- {name: mvt0, type: mac-vtap, state: up, mac-vtap: {base-iface: eno1, mode: vepa, promiscuous: true}}
- {name: hsr0, type: hsr, state: up, hsr: {port1: eno3, port2: eno4, supervision-address: "01:15:4e:00:01:00", multicast-spec: 0, protocol: prp}}
- {name: ib0.8001, type: infiniband, state: up, infiniband: {mode: connected, base-iface: ib0, pkey: "0x8001"}}
- {name: gre1, type: ip-tunnel, state: up, ip-tunnel: {mode: ipip, base-iface: "", local: 10.0.0.5, remote: 10.2.2.2, ttl: 0, tos: 0, pmtu-disc: true, fwmark: 0}}
- {name: macsec0, type: macsec, state: up, macsec: {encrypt: true, base-iface: eno1, mka-cak: "50b71a8ef0bd5751ea76de6d6c98c03a", mka-ckn: "f2b4297d39da7330910a74abc0449feb45b5c0b9fc23df1430e1898fcf1c4550", port: 0, validation: strict, send-sci: true, offload: "off"}}
- {name: veth1, type: veth, state: up, veth: {peer: veth1p}}
- {name: veth1p, type: veth, state: up, veth: {peer: veth1}}
- {name: vx6, type: vxlan, state: up, vxlan: {id: 7, base-iface: "", learning: true, local: "fd00::5", remote: "fd00::9", destination-port: 4789}}
- {name: xfrm0, type: xfrm, state: ignore}
- {name: dum, type: dummy, state: up, mac-address: "36:11:22:33:44:55", mtu: 1500, min-mtu: 0, max-mtu: 0, accept-all-mac-addresses: false}
`,
  'bridges of Open vSwitch': `
ovs-db: {external_ids: {hostname: node, system-id: abc}, other_config: {}}
interfaces:
- name: br-ex
  type: ovs-bridge
  state: up
  ovs-db: {external_ids: {bridge-id: br-ex}, other_config: {}}
  bridge:
    options: {fail-mode: "", mcast-snooping-enable: false, rstp: false, stp: {enabled: false}, datapath: ""}
    port:
    - name: eno4
      vlan: {}
    - name: br-ex
    - {name: bond9, link-aggregation: {mode: balance-slb, bond-downdelay: 0, bond-updelay: 0, ovs-db: {other_config: {}, external_ids: {}}, port: [{name: eno5},{name: eno6}]}}
- {name: br-ex, type: ovs-interface, state: up, controller: br-ex, mac-address: "52:54:00:00:00:09", mtu: 1500, ovs-db: {external_ids: {}, other_config: {}}, ipv4: {enabled: true, dhcp: true}}
- {name: eno4, type: ethernet, state: up, controller: br-ex, ovs-db: {external_ids: {}, other_config: {}}}
- {name: eno5, type: ethernet, state: up, controller: br-ex}
- {name: eno6, type: ethernet, state: up, controller: br-ex}
- {name: br-int, type: ovs-bridge, state: ignore, bridge: {options: {fail-mode: secure}, port: [{name: ovn-k8s-mp0}]}}
- {name: ovn-k8s-mp0, type: ovs-interface, state: ignore, controller: br-int}
`,
};

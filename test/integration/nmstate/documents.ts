/** Documents that nmstate accepts, with each of its sections, and as many of its keys as it accepts together. */
export const ACCEPTED: Readonly<Record<string, string>> = {
  'an adapter with all common keys': `
interfaces:
- name: eno1
  type: ethernet
  state: up
  identifier: name
  profile-name: first
  description: the site's
  driver: e1000
  mac-address: "52:54:00:12:34:56"
  permanent-mac-address: "52:54:00:12:34:56"
  mtu: 9000
  min-mtu: 68
  max-mtu: 9216
  wait-ip: ipv4+ipv6
  accept-all-mac-addresses: false
  controller: ""
  mptcp: {address-flags: [signal, subflow]}
  lldp: {enabled: true}
  alt-names: [{name: uplink}, {name: old, state: absent}]
  ipv4:
    enabled: true
    dhcp: false
    forwarding: true
    allow-extra-address: false
    prefix-route-metric: 101
    address:
    - {ip: 192.168.7.10, prefix-length: 24, mptcp-flags: [signal], valid-life-time: forever, preferred-life-time: forever}
    - {ip: 192.168.7.11, prefix-length: "24", protocol: "0x3"}
  ipv6:
    enabled: true
    dhcp: false
    autoconf: false
    addr-gen-mode: eui64
    address: [{ip: "fd00::10", prefix-length: 64}]
`,
  'dynamic addresses with all keys': `
interfaces:
- name: eno1
  type: ethernet
  ipv4:
    enabled: true
    dhcp: true
    dhcp-client-id: ll
    auto-dns: false
    auto-gateway: true
    auto-routes: true
    auto-route-table-id: 100
    auto-route-metric: 200
    dhcp-send-hostname: true
    dhcp-custom-hostname: sno1
  ipv6:
    enabled: true
    dhcp: true
    autoconf: true
    dhcp-duid: llt
    token: "::10"
    addr-gen-mode: stable-privacy
    auto-dns: true
    auto-gateway: true
    auto-routes: true
    auto-route-table-id: "100"
    auto-route-metric: -1
    dhcp-send-hostname: false
`,
  'adapters by their addresses': `
interfaces:
- {name: lan, type: ethernet, identifier: mac-address, mac-address: "52:54:00:12:34:56", profile-name: lan}
- {name: wan, type: ethernet, identifier: pci-address, pci-address: "0000:07:00.1"}
- {name: a-name-that-is-longer-than-others, type: ethernet, identifier: mac-address, mac-address: "52:54:00:12:34:57"}
`,
  'an adapter without a type':
    'interfaces: [{name: eno1, state: up, ipv4: {enabled: true, dhcp: true}}]',
  'settings of an adapter': `
interfaces:
- name: eno1
  type: ethernet
  ethernet:
    auto-negotiation: false
    speed: 1000
    duplex: full
    sr-iov:
      drivers-autoprobe: true
      total-vfs: 2
      vfs: [{id: 0, mac-address: "52:54:00:12:34:58", spoof-check: true, trust: false, min-tx-rate: 0, max-tx-rate: 100, vlan-id: 10, qos: 1, vlan-proto: 802.1q}, {id: 1}]
  ethtool:
    pause: {rx: true, tx: false, autoneg: false}
    feature: {rx-gro: true, tx-tcp-segmentation: "false", tx-checksum-ip-generic: true, rx-udp-gro-forwarding: false}
    coalesce: {adaptive-rx: true, adaptive-tx: false, pkt-rate-high: 1, pkt-rate-low: 1, rx-frames: 1, rx-frames-high: 1, rx-frames-irq: 1, rx-frames-low: 1, rx-usecs: 1, rx-usecs-high: 1, rx-usecs-irq: 1, rx-usecs-low: 1, sample-interval: 1, stats-block-usecs: 1, tx-frames: 1, tx-frames-high: 1, tx-frames-irq: 1, tx-frames-low: 1, tx-usecs: 1, tx-usecs-high: 1, tx-usecs-irq: 1, tx-usecs-low: 1}
    ring: {rx: 256, rx-max: 512, rx-jumbo: 1, rx-jumbo-max: 1, rx-mini: 1, rx-mini-max: 1, tx: 256, tx-max: 512}
    fec: {auto: false, mode: rs}
`,
  '802.1X': `
interfaces:
- name: eno1
  type: ethernet
  802.1x: {identity: sno, eap-methods: [tls], private-key: /etc/pki/key.pem, client-cert: /etc/pki/cert.pem, ca-cert: /etc/pki/ca.pem, private-key-password: secret, phase2-auth: mschapv2, password: secret}
`,
  'a bond with its options': `
interfaces:
- name: bond0
  type: bond
  ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}
  link-aggregation:
    mode: 802.3ad
    options:
      ad_actor_sys_prio: 1
      ad_actor_system: "00:00:00:00:00:01"
      ad_select: stable
      ad_user_port_key: 1
      all_slaves_active: dropped
      downdelay: 0
      lacp_rate: fast
      lacp_active: true
      lp_interval: 1
      miimon: "100"
      min_links: 1
      num_grat_arp: 1
      num_unsol_na: 1
      resend_igmp: 1
      updelay: 0
      use_carrier: true
      xmit_hash_policy: layer3+4
    port: [eno1, eno2]
    ports-config: [{name: eno1, queue-id: 1}, {name: eno2, queue-id: 2, priority: 1}]
- {name: eno1, type: ethernet, ipv4: {enabled: false}, ipv6: {enabled: false}}
`,
  'a bond by numbers': `
interfaces:
- name: bond0
  type: bond
  bond:
    mode: 1
    options: {primary: eno1, primary_reselect: 0, fail_over_mac: 1, arp_interval: 100, arp_ip_target: 10.0.0.1, arp_validate: filter_active, arp_all_targets: any, arp_missed_max: 2, ns_ip6_target: ["fd00::1"]}
    ports: [eno1, eno2]
`,
  'a bond that balances': `
interfaces:
- name: bond0
  type: bond
  link-aggregation: {mode: balance-xor, port: [eno1], options: {balance-slb: true, xmit_hash_policy: vlan+srcmac}}
- name: bond1
  type: bond
  link-aggregation: {mode: balance-tlb, port: [eno2], options: {tlb_dynamic_lb: true, packets_per_slave: 1}}
`,
  'a VLAN': `
interfaces:
- name: eno1.100
  type: vlan
  vlan:
    base-iface: eno1
    id: 100
    protocol: 802.1ad
    registration-protocol: gvrp
    reorder-headers: true
    loose-binding: false
    ingress-qos-map: [{from: 1, to: 5}]
    egress-qos-map: [{from: 5, to: 1}]
  ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}
routes:
  config:
  - destination: 0.0.0.0/0
    next-hop-address: 10.0.0.1
    next-hop-interface: eno1.100
    metric: 100
    table-id: 254
    weight: 1
    cwnd: 10
    initcwnd: 10
    initrwnd: 10
    mtu: 1400
    quickack: true
    advmss: 1360
    lock-mtu: false
    source: 10.0.0.5
  - {destination: 10.9.0.0/16, route-type: blackhole}
  - {destination: 10.8.0.0/16, route-type: unreachable}
  - {state: absent, next-hop-interface: eno1.100}
route-rules:
  config:
  - {ip-from: 10.0.0.0/24, priority: 100, route-table: 200, family: ipv4, iif: eno1.100, fwmark: 1, fwmask: "0xff", suppress-prefix-length: 0}
  - {ip-to: 10.1.0.0/16, action: blackhole}
  - {state: absent, priority: 7}
`,
  'name servers': `
interfaces:
- {name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}, ipv6: {enabled: true, address: [{ip: "fd00::10", prefix-length: 64}]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1}
  - {destination: "::/0", next-hop-address: "fd00::1", next-hop-interface: eno1}
dns-resolver:
  config: {server: [10.0.0.1, "fd00::1"], search: [example.com], options: [rotate, "timeout:1", trust-ad]}
`,
  'a bridge of the kernel': `
interfaces:
- name: br0
  type: linux-bridge
  ipv4: {enabled: true, dhcp: true}
  copy-mac-from: eno1
  bridge:
    allow-extra-ports: true
    options:
      gc-timer: 1
      group-addr: "01:80:C2:00:00:00"
      group-forward-mask: 0
      hash-max: 4096
      hello-timer: 1
      mac-ageing-time: 300
      multicast-last-member-count: 2
      multicast-last-member-interval: 100
      multicast-membership-interval: 26000
      multicast-querier: false
      multicast-querier-interval: 25500
      multicast-query-interval: 12500
      multicast-query-response-interval: 1000
      multicast-query-use-ifaddr: false
      multicast-router: auto
      multicast-snooping: true
      multicast-startup-query-count: 2
      multicast-startup-query-interval: 3125
      vlan-protocol: 802.1q
      vlan-default-pvid: 1
      stp: {enabled: true, forward-delay: 15, hello-time: 2, max-age: 20, priority: 32768}
    port:
    - name: eno1
      stp-hairpin-mode: false
      stp-path-cost: 100
      stp-priority: 32
      vlan: {mode: trunk, tag: 10, enable-native: true, trunk-tags: [{id: 101}, {id-range: {min: 500, max: 599}}]}
    - {name: eno2, vlan: {mode: access, tag: 20}}
- {name: eno1, type: ethernet, mac-address: "52:54:00:12:34:56"}
- {name: eno2, type: ethernet, controller: br0}
`,
  "OpenShift's br-ex": `
interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
- name: br-ex
  type: ovs-bridge
  state: up
  ipv4: {enabled: false, dhcp: false}
  ipv6: {enabled: false, dhcp: false}
  bridge:
    allow-extra-patch-ports: true
    options: {mcast-snooping-enable: true}
    port: [{name: eno1}, {name: br-ex}]
- name: br-ex
  type: ovs-interface
  state: up
  copy-mac-from: eno1
  ipv4: {enabled: true, dhcp: true, auto-route-metric: 48}
  ipv6: {enabled: false, dhcp: false}
  ovs-db: {external_ids: {a: b}, other_config: {c: "1"}}
ovn:
  bridge-mappings: [{localnet: physnet, bridge: br-ex, state: present}]
`,
  'a bridge of Open vSwitch': `
interfaces:
- name: ovs0
  type: ovs-bridge
  bridge:
    allow-extra-patch-ports: false
    allow-extra-ports: true
    options: {stp: {enabled: true}, rstp: false, mcast-snooping-enable: false, fail-mode: secure, datapath: netdev}
    port:
    - name: ovs0
      vlan: {mode: access, tag: 10}
    - name: ovsbond1
      link-aggregation: {mode: balance-slb, bond-downdelay: 100, bond-updelay: 100, port: [{name: eno1}, {name: eno2}], ovs-db: {other_config: {x: "1"}}}
    - {name: patch0}
- {name: ovs0, type: ovs-interface, ipv4: {enabled: true, dhcp: true}}
- {name: patch0, type: ovs-interface, patch: {peer: patch1}}
ovs-db: {external_ids: {x: y}, other_config: {z: "1"}}
`,
  DPDK: `
interfaces:
- name: ovs0
  type: ovs-bridge
  bridge: {options: {datapath: netdev, stp: true}, port: [{name: dpdk0}]}
- {name: dpdk0, type: ovs-interface, dpdk: {devargs: "0000:07:00.1", rx-queue: 2, n_rxq_desc: 1024, n_txq_desc: 2048, lsc-interrupt: true}}
`,
  'a VRF': `
interfaces:
- {name: vrf0, type: vrf, vrf: {port: [eno1], route-table-id: 100}}
- {name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}
routes: {config: [{destination: 10.9.0.0/16, next-hop-address: 10.0.0.1, next-hop-interface: eno1, vrf-name: vrf0}]}
`,
  'a veth pair':
    'interfaces: [{name: veth0, type: veth, veth: {peer: veth1}}, {name: veth1, type: veth, veth: {peer: veth0}}]',
  'a VXLAN':
    'interfaces: [{name: vxlan7, type: vxlan, vxlan: {base-iface: eno1, id: 7, learning: true, local: 10.0.0.5, remote: 239.1.1.1, destination-port: 4789}}]',
  'VLANs of an adapter by address': `
interfaces:
- {name: macvlan0, type: mac-vlan, mac-vlan: {base-iface: eno1, mode: passthru, promiscuous: false}}
- {name: macvtap0, type: mac-vtap, mac-vtap: {base-iface: eno2, mode: bridge, accept-all-mac: true}}
- {name: ipvlan0, type: ipvlan, ipvlan: {base-iface: eno3, mode: l2, private: true, vepa: false}}
`,
  MACsec:
    'interfaces: [{name: macsec0, type: macsec, macsec: {encrypt: true, base-iface: eno1, mka-cak: 50b71a8ef0bd5751ea76de6d6c98c03a, mka-ckn: f2b4297d39da7330910a74abc0449feb45b5c0b9fc23df1430e1898fcf1c4550, port: 0, validation: strict, send-sci: true, offload: "off"}}]',
  InfiniBand:
    'interfaces: [{name: ib0, type: infiniband, infiniband: {mode: datagram, pkey: 65535}}, {name: ib0.8001, type: infiniband, infiniband: {mode: connected, base-iface: ib0, pkey: "0x8001"}}]',
  HSR: 'interfaces: [{name: hsr0, type: hsr, hsr: {port1: eno1, port2: eno2, multicast-spec: 40, protocol: prp}}]',
  'an IP tunnel':
    'interfaces: [{name: tun7, type: ip-tunnel, ip-tunnel: {mode: ipip, base-iface: eno1, local: 10.0.0.5, remote: 10.0.0.6, ttl: 64, tos: 0, pmtu-disc: true}}]',
  'an IPv6 tunnel':
    'interfaces: [{name: tun7, type: ip-tunnel, ip-tunnel: {mode: ip6ip6, base-iface: eno1, local: "fd00::5", remote: "fd00::6", flow-label: 1, ip6tun-flags: [use-orig-tclass], encap-limit: 4, fwmark: 1}}]',
  IPsec:
    'interfaces: [{name: ipsec-to-the-factory, type: ipsec, ipv4: {enabled: true, dhcp: true}, libreswan: {nm-auto-defaults: true, right: 10.0.0.6, rightid: "@r", left: 10.0.0.5, leftid: "@l", ikev2: insist, psk: secret, ikelifetime: 24h, salifetime: 24h, ike: aes, esp: aes, dpddelay: 1, dpdtimeout: 60, dpdaction: restart, ipsec-interface: 9, authby: secret, rightsubnet: 10.9.0.0/16, leftsubnet: 10.8.0.0/16, leftmodecfgclient: false, type: tunnel, hostaddrfamily: ipv4, clientaddrfamily: ipv4, require-id-on-certificate: true}}]',
  others:
    'interfaces: [{name: dummy0, type: dummy}, {name: lo, type: loopback, ipv4: {enabled: true, address: [{ip: 127.0.0.1, prefix-length: 8}]}}, {name: eno9, type: ethernet, state: absent}, {name: eno8, type: ethernet, state: down}]',
  'a description alone': 'description: nothing yet',
  'an empty resolver': 'dns-resolver: {config: {}}',
};

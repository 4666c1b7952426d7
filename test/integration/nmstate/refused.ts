/** What people write, and nmstate refuses: the field that has to be named, and how to write it. */
export const REFUSED: Readonly<Record<string, { text: string; field: string; fix: RegExp }>> = {
  'ports of a bridge as texts': {
    text: 'interfaces: [{name: br0, type: linux-bridge, ipv4: {enabled: true, dhcp: true}, bridge: {port: [eno1]}}]',
    field: 'interfaces.0.bridge.port.0',
    fix: /a mapping/,
  },
  'name servers without config': {
    text: 'dns-resolver: {server: [10.0.0.1]}',
    field: 'dns-resolver.server',
    fix: /Write server below config/,
  },
  'a gateway as in iproute2': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}}]\nroutes: {config: [{destination: 0.0.0.0/0, via: 10.0.0.1, next-hop-interface: eno1}]}',
    field: 'routes.config.0.via',
    fix: /Did you mean next-hop-address\?/,
  },
  'DHCP misspelt': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dchp: true}}]',
    field: 'interfaces.0.ipv4.dchp',
    fix: /Did you mean dhcp\?/,
  },
  'an option of a bond misspelt': {
    text: 'interfaces: [{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, link-aggregation: {mode: 1, port: [eno1], options: {mimon: 100}}}]',
    field: 'interfaces.0.link-aggregation.options.mimon',
    fix: /Did you mean miimon\?/,
  },
  "an address of a bond's port": {
    text: 'interfaces: [{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, link-aggregation: {mode: 1, port: [eno1]}}, {name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}]',
    field: 'interfaces.1.ipv4.enabled',
    fix: /Move the addresses to bond0/,
  },
  'the table of automatic routes by another name': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true, auto-table-id: 100}}]',
    field: 'interfaces.0.ipv4.auto-table-id',
    fix: /Did you mean auto-route-table-id\?/,
  },
  'autoconf of IPv4': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, autoconf: true}}]',
    field: 'interfaces.0.ipv4.autoconf',
    fix: /Remove it/,
  },
  'autoconf without DHCP': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv6: {enabled: true, autoconf: true, dhcp: false}}]',
    field: 'interfaces.0.ipv6.dhcp',
    fix: /dhcp: true/,
  },
  'lacp_rate without LACP': {
    text: 'interfaces: [{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, link-aggregation: {mode: active-backup, port: [eno1], options: {lacp_rate: fast}}}]',
    field: 'interfaces.0.link-aggregation.options.lacp_rate',
    fix: /mode: 802.3ad/,
  },
  'a small MTU with IPv6': {
    text: 'interfaces: [{name: eno1, type: ethernet, mtu: 1000, ipv6: {enabled: true, dhcp: true, autoconf: true}}]',
    field: 'interfaces.0.mtu',
    fix: /larger/,
  },
  'two names of one key': {
    text: 'interfaces: [{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, link-aggregation: {mode: 1, port: [eno1], ports: [eno1]}}]',
    field: 'interfaces.0.link-aggregation.ports',
    fix: /port alone/,
  },
  'a route through an interface without the family': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: false}, ipv6: {enabled: true, dhcp: true, autoconf: true}}]\nroutes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1}]}',
    field: 'routes.config.0.next-hop-interface',
    fix: /enabled: true/,
  },
  'a rule without networks': {
    text: 'route-rules: {config: [{route-table: 100, priority: 5}]}',
    field: 'route-rules.config.0.family',
    fix: /Set one/,
  },
  'an option of the resolver': {
    text: 'dns-resolver: {config: {server: [10.0.0.1], options: [rotat]}}',
    field: 'dns-resolver.config.options.0',
    fix: /rotate/,
  },
  'settings of another type': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}, vlan: {base-iface: eno2, id: 5}}]',
    field: 'interfaces.0.vlan',
    fix: /Remove it/,
  },
  'a route in another table than that of its VRF': {
    text: 'interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}, {name: vrf0, type: vrf, vrf: {port: [eno1], route-table-id: 100}}]\nroutes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1, vrf-name: vrf0, table-id: 254}]}',
    field: 'routes.config.0.table-id',
    fix: /100, the table of vrf0/,
  },
};

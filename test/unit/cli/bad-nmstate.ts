import type { Case, Edit } from './install-config-file.ts';

/** Adds a networkConfig to bootstrapInPlace; its text starts at line 27, column 5. */
function network(text: string): Edit {
  const indented = text.trim().replaceAll('\n', '\n    ');
  return [
    'existingSystem: overwrite',
    `existingSystem: overwrite\n  networkConfig:\n    ${indented}`,
  ];
}
/** Each fault as `LINE:COL field: …`, with the field relative to networkConfig. */
const bad = (name: string, text: string, ...faults: readonly string[]): Case => ({
  name: `network: ${name}`,
  edits: [network(text)],
  faults: faults.map((fault) => fault.replace(' ', ' bootstrapInPlace.networkConfig.')),
});

const BOND = 'interfaces:\n- name: bond0\n  type: bond\n  link-aggregation:';
const ROUTE = 'interfaces: [{name: eno1, type: ethernet}]\nroutes:\n  config:\n  -';

/** One adapter with a static address. */
const HOST = (address: string, prefix: number) =>
  `interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: ${address}, prefix-length: ${prefix}}]}}]`;

export const nmstate: readonly Case[] = [
  {
    name: 'network: as a text',
    edits: [
      [
        'existingSystem: overwrite',
        'existingSystem: overwrite\n  networkConfig: |\n    interfaces: []',
      ],
    ],
    faults: [
      '26:18 bootstrapInPlace.networkConfig: expected an nmstate document (a mapping), found a string of 15 characters. Write interfaces, routes and dns-resolver below it, without | and quotes.',
    ],
  },
  {
    name: 'network: empty',
    edits: [['existingSystem: overwrite', 'existingSystem: overwrite\n  networkConfig: {}']],
    faults: [
      '26:18 bootstrapInPlace.networkConfig: expected an nmstate document, found an empty mapping. Write interfaces in it.',
    ],
  },
  bad(
    'a section mistyped',
    'interface: [{name: eno1, type: ethernet}]',
    '27:5 interface: expected an nmstate section, found an unknown section. Did you mean interfaces?',
  ),
  bad(
    'a section that there is not',
    'wifi: {}',
    '27:5 wifi: expected an nmstate section, found an unknown section. Use interfaces, routes, route-rules, dns-resolver, ovs-db, ovn, description.',
  ),
  bad(
    'a host name',
    'hostname: {config: sno1}',
    '27:5 hostname: expected an nmstate section, found an unknown section. Use bootstrapInPlace.hostname instead.',
  ),
  bad(
    'interfaces as a mapping',
    'interfaces: {eno1: {type: ethernet}}',
    '27:17 interfaces: expected a list, found a mapping. Write it as interfaces: [{name: eno1, type: ethernet, state: up, ...}].',
  ),
  bad(
    'an interface that is a text',
    'interfaces: [eno1]',
    '27:18 interfaces[0]: expected a mapping, found "eno1". Write it as in the examples of nmstate.',
  ),
  bad(
    'an interface without a name',
    'interfaces: [{type: ethernet}]',
    '27:18 interfaces[0].name: expected a string, found nothing. Name the interface; with identifier: mac-address, any name is valid.',
  ),
  bad(
    'a name that is too long',
    'interfaces: [{name: enp0s31f6np0.1234, type: ethernet}]',
    '27:25 interfaces[0].name: expected at most 15 characters without spaces, slashes and colons, found "enp0s31f6np0.1234". Shorten it: the kernel allows no more.',
  ),
  bad(
    'an interface twice',
    'interfaces: [{name: eno1, type: ethernet}, {name: eno1, type: ethernet}]',
    '27:55 interfaces[1].name: expected a unique name, found "eno1". Merge the two entries.',
  ),
  bad(
    'no type, with the settings of another than an adapter',
    'interfaces: [{name: bond0, link-aggregation: {mode: 802.3ad, port: [eno1]}}]',
    '27:18 interfaces[0].type: expected bond, found nothing. Write type: bond.',
  ),
  bad(
    'a type mistyped',
    'interfaces: [{name: eno1, type: ethrnet}]',
    '27:37 interfaces[0].type: expected one of bond, dummy, ethernet, hsr, infiniband, ip-tunnel, ipsec, ipvlan, linux-bridge, loopback, mac-vlan, mac-vtap, macsec, ovs-bridge, ovs-interface, veth, vlan, vrf, vxlan, xfrm, found "ethrnet". Did you mean ethernet?',
  ),
  bad(
    'a key mistyped',
    'interfaces: [{name: eno1, type: ethernet, mac-adress: "52:54:00:12:34:56"}]',
    '27:47 interfaces[0].mac-adress: expected an nmstate key, found an unknown key. Did you mean mac-address?',
  ),
  bad(
    'a state',
    'interfaces: [{name: eno1, type: ethernet, state: on}]',
    '27:54 interfaces[0].state: expected one of up, down, absent, ignore, found true (written on). Write state: up.',
  ),
  bad(
    'a word that YAML takes for false',
    'interfaces: [{name: eno1, type: ethernet, ethtool: {fec: {mode: off}}}]',
    '27:69 interfaces[0].ethtool.fec.mode: expected one of off, rs, baser, llrs, found false (written off). Write it in quotes: "off".',
  ),
  bad(
    'by hardware address without one',
    'interfaces: [{name: lan, type: ethernet, identifier: mac-address}]',
    '27:18 interfaces[0].mac-address: expected six bytes such as 52:54:00:12:34:56, found nothing. Copy it from the adapter, in quotes.',
  ),
  bad(
    'a hardware address',
    'interfaces: [{name: eno1, type: ethernet, mac-address: 52-54-00-12-34-56}]',
    '27:60 interfaces[0].mac-address: expected six bytes such as 52:54:00:12:34:56, found "52-54-00-12-34-56". Copy it from the adapter, in quotes.',
  ),
  bad(
    'a bond without its settings',
    'interfaces: [{name: bond0, type: bond}]',
    '27:18 interfaces[0].link-aggregation: expected a mapping with mode and port, found nothing. Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.',
  ),
  bad(
    'a bond without a mode',
    `${BOND} {port: [eno1, eno2]}`,
    '30:7 interfaces[0].link-aggregation.mode: expected one of balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb, balance-alb, found nothing. Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.',
  ),
  bad(
    'a mode mistyped',
    `${BOND} {mode: active-bakup, port: [eno1, eno2]}`,
    '30:32 interfaces[0].link-aggregation.mode: expected one of balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb, balance-alb, found "active-bakup". Did you mean active-backup?',
  ),
  bad(
    'a bond without ports',
    `${BOND} {mode: 802.3ad, port: []}`,
    '30:47 interfaces[0].link-aggregation.port: expected a list of interfaces, found an empty list. Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.',
  ),
  bad(
    'a bond of itself',
    `${BOND} {mode: 802.3ad, port: [bond0]}`,
    '30:48 interfaces[0].link-aggregation.port[0]: expected a port of one interface only, found the interface itself. List the interfaces that it consists of.',
  ),
  bad(
    'a port that is to be absent',
    `${BOND} {mode: 802.3ad, port: [eno1]}\n- {name: eno1, type: ethernet, state: absent}`,
    '30:48 interfaces[0].link-aggregation.port[0]: expected an interface that is up, found "eno1" with state absent. Name another, or write state: up for eno1.',
  ),
  bad(
    'a port of two bonds',
    `${BOND} {mode: 802.3ad, port: [eno1, eno2]}\n- name: bond1\n  type: bond\n  link-aggregation: {mode: 802.3ad, port: [eno2, eno3]}`,
    '33:48 interfaces[1].link-aggregation.port[0]: expected a port of one interface only, found "eno2", also a port of bond0. Remove it from one of the two.',
  ),
  bad(
    'a VLAN without its settings',
    'interfaces: [{name: eno1.5, type: vlan}]',
    '27:18 interfaces[0].vlan: expected a mapping with base-iface and id, found nothing. Write it as vlan: {base-iface: eno1, id: 100}.',
  ),
  bad(
    'a VLAN of nothing',
    'interfaces: [{name: eno1.5, type: vlan, vlan: {id: 5}}]',
    '27:45 interfaces[0].vlan.base-iface: expected another interface, found nothing. Write it as vlan: {base-iface: eno1, id: 100}.',
  ),
  bad(
    'a VLAN id',
    'interfaces: [{name: eno1.5, type: vlan, vlan: {base-iface: eno1, id: 4095}}]',
    '27:74 interfaces[0].vlan.id: expected an integer from 1 to 4094, found 4095. Write it as vlan: {base-iface: eno1, id: 100}.',
  ),
  bad(
    'a VLAN of a bond that is not declared',
    `${BOND} {mode: 802.3ad, port: [eno1]}\n- {name: bond1.5, type: vlan, vlan: {base-iface: bond1, id: 5}}`,
    '31:54 interfaces[1].vlan.base-iface: expected an existing interface, found "bond1". Did you mean bond0? Declare it in interfaces: it is not a physical adapter.',
  ),
  bad(
    'an address of the other family',
    'interfaces: [{name: eno1, type: ethernet, ipv4: {address: [{ip: "fd00::1", prefix-length: 64}]}}]',
    '27:69 interfaces[0].ipv4.address[0].ip: expected an IPv4 address, found "fd00::1". Write it as address: [{ip: 192.168.7.10, prefix-length: 24}].',
    '27:95 interfaces[0].ipv4.address[0].prefix-length: expected an integer from 0 to 32, found 64. Write it as address: [{ip: 192.168.7.10, prefix-length: 24}].',
  ),
  bad(
    'an address with its length',
    'interfaces: [{name: eno1, type: ethernet, ipv4: {address: [{ip: 192.168.7.10/24}]}}]',
    '27:64 interfaces[0].ipv4.address[0].prefix-length: expected an integer from 0 to 32, found nothing. Write it as address: [{ip: 192.168.7.10, prefix-length: 24}].',
    '27:69 interfaces[0].ipv4.address[0].ip: expected an IPv4 address, found "192.168.7.10/24". Write it as address: [{ip: 192.168.7.10, prefix-length: 24}].',
  ),
  bad(
    'a prefix length',
    'interfaces: [{name: eno1, type: ethernet, ipv6: {address: [{ip: "fd00::1", prefix-length: 129}]}}]',
    '27:95 interfaces[0].ipv6.address[0].prefix-length: expected an integer from 0 to 128, found 129. Write it as address: [{ip: fd00::10, prefix-length: 64}].',
  ),
  bad(
    'an address mistyped',
    'interfaces: [{name: eno1, type: ethernet, ipv4: {adress: []}}]',
    '27:54 interfaces[0].ipv4.adress: expected an nmstate key, found an unknown key. Did you mean address?',
  ),
  bad(
    'routes as a list',
    'routes: [{destination: 0.0.0.0/0}]',
    '27:13 routes: expected a mapping with config, found a list. Write it as config: [{destination: 0.0.0.0/0, next-hop-address: ..., ...}].',
  ),
  bad(
    'a route without its interface',
    `${ROUTE} {destination: 0.0.0.0/0, next-hop-address: 192.168.7.1}`,
    '30:9 routes.config[0].next-hop-interface: expected an interface, found nothing. Name the outgoing interface: nmstate does not infer it.',
  ),
  bad(
    'a route to an address',
    `${ROUTE} {destination: default, next-hop-interface: eno1}`,
    '30:23 routes.config[0].destination: expected a network, found "default". Write it as 0.0.0.0/0, ::/0 or 10.20.0.0/16.',
  ),
  bad(
    'a router of the other family',
    `${ROUTE} {destination: "::/0", next-hop-interface: eno1, next-hop-address: 192.168.7.1}`,
    '30:75 routes.config[0].next-hop-address: expected an IPv6 address, found "192.168.7.1". Set the address of a router of the same family as the destination.',
  ),
  bad(
    'a route through nothing',
    `${ROUTE} {destination: 0.0.0.0/0, next-hop-interface: bond7}`,
    '30:54 routes.config[0].next-hop-interface: expected an existing interface, found "bond7". Declare it in interfaces: it is not a physical adapter.',
  ),
  bad(
    'a name server',
    'dns-resolver: {config: {server: [dns.example.com]}}',
    '27:38 dns-resolver.config.server[0]: expected the address of a name server, found "dns.example.com". Write it as config: {server: [192.168.7.1], search: [example.com]}.',
  ),
  bad(
    'name servers without config',
    'dns-resolver: {servers: [192.168.7.1], confg: {}}',
    '27:20 dns-resolver.servers: expected an nmstate key, found an unknown key. Write server below config.',
    '27:44 dns-resolver.confg: expected an nmstate key, found an unknown key. Did you mean config?',
  ),
  bad(
    'an address outside of the machine network',
    `${HOST('192.168.8.10', 24)}`,
    '27:84 interfaces[0].ipv4.address[0].ip: expected an address of the node in networking.machineNetwork (192.168.7.0/24), found 192.168.8.10/24. Set networking.machineNetwork to the network of the node, such as 192.168.8.0/24, or declare the adapter that has dhcp: true.',
  ),
  {
    name: 'network: an address outside of the default machine network',
    edits: [
      network(HOST('192.168.8.10', 24)),
      ['  machineNetwork:\n  - cidr: 192.168.7.0/24\n', ''],
    ],
    faults: ['25 bootstrapInPlace.networkConfig.interfaces[0].ipv4.address[0].ip'],
    says: /in networking\.machineNetwork \(10\.0\.0\.0\/16, the default\), found 192\.168\.8\.10\/24/,
  },
  bad(
    'a router that is not there',
    `${HOST('192.168.7.10', 24)}\nroutes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.168.70.1, next-hop-interface: eno1}]}`,
    '28:66 routes.config[0].next-hop-address: expected a router in a network of eno1 (192.168.7.0/24), found 192.168.70.1, which is in none of its networks. Set the address of the router in the network of the interface.',
  ),
  bad(
    'a name server among the Services',
    `${HOST('192.168.7.10', 24)}\ndns-resolver: {config: {server: [172.30.0.10]}}`,
    "28:38 dns-resolver.config.server[0]: expected an address outside of the Services' network (172.30.0.0/16), found 172.30.0.10. Use a server that the node can reach there.",
  ),
  bad(
    'a key that other tools have',
    `${HOST('192.168.7.10', 24)}\nroutes: {config: [{destination: 0.0.0.0/0, via: 192.168.7.1, next-hop-interface: eno1}]}`,
    '28:48 routes.config[0].via: expected an nmstate key, found an unknown key. Did you mean next-hop-address?',
  ),
];

/** What nmstate would accept without the host, and the host refuses or reads over: NetworkManager, the kernel, Open vSwitch. */
import t from 'tap';
import { isRecord } from '../../../../lib/base/json.ts';
import { readDocument } from '../../../../lib/config/file/document.ts';
import { nmstateMisfits } from '../../../../lib/config/site/nmstate/document.ts';
import { expectedOnHost } from '../../../../lib/config/site/nmstate/interfaces.ts';

const documentIn = (text: string) => {
  const { value, faults } = readDocument(text);
  if (!isRecord(value) || faults.length > 0) throw new Error(`${text}: ${JSON.stringify(faults)}`);
  return value;
};

const DHCP = 'ipv4: {enabled: true, dhcp: true}';
const adapter = (more: string) => `interfaces: [{name: eno1, type: ethernet, ${DHCP}, ${more}}]`;
const bond = (mode: string, options: string, more = '') =>
  `interfaces: [{name: bond0, type: bond, ${DHCP}, link-aggregation: {mode: ${mode}, options: {${options}}, port: [eno1, eno2]}}${more}]`;
const made = (type: string, section: string, more = '', others = '') =>
  `interfaces: [{name: made0, type: ${type}, ${type}: {${section}}, ${DHCP}${more}}${others}]`;
const bridge = (vlan: string) =>
  `interfaces: [{name: br0, type: linux-bridge, ${DHCP}, bridge: {port: [{name: eno1, vlan: {${vlan}}}]}}]`;
const vfs = (list: string) => adapter(`ethernet: {sr-iov: {total-vfs: 2, vfs: [${list}]}}`);
const eap = (settings: string) => adapter(`802.1x: {identity: sno, ${settings}}`);
const rules = (rule: string) => `route-rules: {config: [{${rule}}]}`;
const OVS = (ports: string, options = '') =>
  `interfaces: [{name: br-ex, type: ovs-bridge, bridge: {${ports}${options}}}, {name: br-ex, type: ovs-interface, ${DHCP}}]`;
const byMac = (...macs: readonly string[]) =>
  `interfaces: [${macs.map((mac, at) => `{name: lan${at}, type: ethernet, identifier: mac-address, mac-address: "${mac}", ${DHCP}}`).join()}]`;
const MACSEC =
  'encrypt: true, mka-cak: 50b71a8ef0bd5751ea76de6d6c98c03a, mka-ckn: f2b4297d39da7330, port: 0, validation: strict, send-sci: true';
const SMALL = ', {name: eno1, type: ethernet, mtu: 1500}';
const BASES: readonly (readonly [type: string, section: string])[] = [
  ['vlan', 'id: 5'],
  ['mac-vlan', 'mode: bridge'],
  ['mac-vtap', 'mode: bridge'],
  ['ipvlan', 'mode: l2'],
  ['vxlan', 'id: 5, remote: 10.0.0.9'],
  ['macsec', MACSEC],
  ['infiniband', 'mode: datagram, pkey: "0x8001"'],
  ['ip-tunnel', 'mode: ipip, local: 10.0.0.5, remote: 10.0.0.6'],
];

const BOND_OPTIONS = 'interfaces.0.link-aggregation.options';
const PORT_VLAN = 'interfaces.0.bridge.port.0.vlan';
const VFS = 'interfaces.0.ethernet.sr-iov.vfs';
const EAP = 'interfaces.0.802.1x';
type Row = readonly [name: string, text: string, field: string, words: RegExp];

const REFUSED: readonly Row[] = [
  ...BASES.flatMap(([type, section]): Row[] => {
    const field = `interfaces.0.${type}.base-iface`;
    const base = (name: string) => `${section}, base-iface: ${name}`;
    return [
      [`${type} of itself`, made(type, base('made0')), field, /another interface/],
      [`${type} of no bond`, made(type, base('bond7')), field, /Declare it in interfaces/],
      [
        `${type} of an interface that is down`,
        made(type, base('eno1'), '', ', {name: eno1, type: ethernet, state: down}'),
        field,
        /an interface that is up, found "eno1" with state down.*state: up for eno1/,
      ],
    ];
  }),
  ...(
    [
      ['vlan', 'id: 5', 1501, /at most 1500: the mtu of eno1 is 1500/],
      ['mac-vlan', 'mode: bridge', 9000, /at most 1500/],
      ['ipvlan', 'mode: l2', 9000, /at most 1500/],
      ['vxlan', 'id: 5, remote: 10.0.0.9', 1451, /at most 1450/],
      ['vxlan', 'id: 5, remote: "fd00::9"', 1431, /at most 1430/],
      ['macsec', MACSEC, 1469, /at most 1468/],
    ] as const
  ).map(
    ([type, section, mtu, words]): Row => [
      `${type} with an MTU above that of its base: ${section.slice(0, 30)}`,
      made(type, `${section}, base-iface: eno1`, `, mtu: ${mtu}`, SMALL),
      'interfaces.0.mtu',
      words,
    ],
  ),
  [
    'a port with another MTU than its bond',
    `interfaces: [{name: bond0, type: bond, mtu: 9000, ${DHCP}, link-aggregation: {mode: 1, port: [eno1]}}${SMALL}]`,
    'interfaces.1.mtu',
    /9000, as that of bond0/,
  ],
  ['an MTU below that of IPv4', adapter('mtu: 67'), 'interfaces.0.mtu', /from 68 to 65575/],
  ['an MTU that no link has', adapter('mtu: 90000'), 'interfaces.0.mtu', /from 68 to 65575/],
  [
    'a VLAN twice',
    `interfaces: [{name: a, type: vlan, vlan: {base-iface: eno1, id: 7}, ${DHCP}}, {name: b, type: vlan, vlan: {base-iface: eno1, id: "7"}}]`,
    'interfaces.1.vlan.id',
    /another number than that of a on eno1/,
  ],
  ['a pair of one end', made('veth', 'peer: made0'), 'interfaces.0.veth.peer', /other end/],
  [
    'the address of nobody',
    adapter('copy-mac-from: bond5'),
    'interfaces.0.copy-mac-from',
    /Declare/,
  ],
  ['no MAC address', byMac('00:00:00:00:00:00'), 'interfaces.0.mac-address', /nor all zeros/],
  ['that of a group', byMac('01:00:5e:00:00:01'), 'interfaces.0.mac-address', /of a group/],
  ['that of all', byMac('FF:FF:FF:FF:FF:FF'), 'interfaces.0.mac-address', /of a group/],
  ['one of seven bytes', byMac('52:54:00:12:34:56:78'), 'interfaces.0.mac-address', /six bytes/],
  [
    'one adapter by two names',
    byMac('52:54:00:ab:34:56', '52:54:00:AB:34:56'),
    'interfaces.1.mac-address',
    /an adapter of its own, found "52:54:00:AB:34:56", that of lan0/,
  ],
  ['a policy', 'desiredState: {interfaces: []}', 'desiredState', /what is below desiredState/],
  ['a name of ifconfig', `interfaces: [{name: "eno1:0", ${DHCP}}]`, 'interfaces.0.name', /colons/],
  [
    'a name that is a folder',
    `interfaces: [{name: "..", ${DHCP}}]`,
    'interfaces.0.name',
    /Shorten/,
  ],
  ['a primary elsewhere', bond('1', 'primary: eno9'), `${BOND_OPTIONS}.primary`, /\(eno1, eno2\)/],
  ['a primary with LACP', bond('4', 'primary: eno1'), `${BOND_OPTIONS}.primary`, /mode 802\.3ad/],
  [
    'targets by name',
    bond('1', 'arp_interval: 1, arp_ip_target: router'),
    `${BOND_OPTIONS}.arp_ip_target`,
    /IPv4 addresses/,
  ],
  [
    'no targets',
    bond('1', 'arp_interval: 100'),
    `${BOND_OPTIONS}.arp_interval`,
    /arp_ip_target beside it/,
  ],
  [
    'a system that is no address',
    bond('4', 'ad_actor_system: sno'),
    `${BOND_OPTIONS}.ad_actor_system`,
    /six bytes/,
  ],
  ['a tag that is none', bridge('mode: access, tag: 5000'), `${PORT_VLAN}.tag`, /from 0 to 4094/],
  [
    'a tag of a trunk',
    bridge('mode: trunk, trunk-tags: [{id: 4095}]'),
    `${PORT_VLAN}.trunk-tags.0.id`,
    /from 1 to 4094\.$/,
  ],
  [
    'a range backwards',
    bridge('mode: trunk, trunk-tags: [{id-range: {min: 9, max: 8}}]'),
    `${PORT_VLAN}.trunk-tags.0`,
    /Exchange/,
  ],
  [
    'a tag twice',
    bridge('mode: trunk, trunk-tags: [{id: 9}, {id-range: {min: 8, max: 10}}]'),
    `${PORT_VLAN}.trunk-tags.1`,
    /each tag once/,
  ],
  ['a function too many', vfs('{id: 2}'), `${VFS}.0.id`, /below total-vfs \(2\)/],
  ['a function twice', vfs('{id: 0}, {id: "0"}'), `${VFS}.1.id`, /each function once/],
  ['a VLAN of a function', vfs('{id: 0, vlan-id: 4096}'), `${VFS}.0.vlan-id`, /from 0 to 4095/],
  ['a priority of a function', vfs('{id: 0, qos: 8}'), `${VFS}.0.qos`, /from 0 to 7/],
  [
    'an address of a function',
    vfs('{id: 0, mac-address: sno}'),
    `${VFS}.0.mac-address`,
    /six bytes/,
  ],
  ['a method misspelt', eap('eap-methods: [tsl]'), `${EAP}.eap-methods`, /some of leap, md5, tls/],
  ['no method', eap('password: geheim'), `${EAP}.eap-methods`, /external\.$/],
  [
    'a second phase misspelt',
    eap('eap-methods: [peap], phase2-auth: mschap-v2, password: geheim'),
    `${EAP}.phase2-auth`,
    /mschapv2/,
  ],
  [
    'a mode of failure misspelt',
    OVS('port: [{name: br-ex}]', ', options: {fail-mode: secur}'),
    'interfaces.0.bridge.options.fail-mode',
    /secure, standalone, or omit/,
  ],
  [
    'a datapath misspelt',
    OVS('port: [{name: br-ex}]', ', options: {datapath: kernel}'),
    'interfaces.0.bridge.options.datapath',
    /system, netdev/,
  ],
  [
    'a bridge without its own interface',
    OVS('port: [{name: eno1}]'),
    'interfaces.1.name',
    /Add \{name: br-ex\} to bridge\.port/,
  ],
  [
    'a VXLAN of 25 bits',
    made('vxlan', 'id: 16777216, remote: 10.0.0.9'),
    'interfaces.0.vxlan.id',
    /to 16777215\.$/,
  ],
  [
    'a tunnel of the other family',
    made('ip-tunnel', 'mode: ipip, local: 10.0.0.5, remote: "fd00::6"'),
    'interfaces.0.ip-tunnel.remote',
    /IPv4 address for mode ipip/,
  ],
  [
    'a rule of two families',
    rules('ip-from: 10.0.0.0/24, ip-to: "fd00::/64"'),
    'route-rules.config.0.ip-to',
    /IPv4, as ip-from is/,
  ],
  [
    'a router with its link',
    `${adapter('ipv6: {enabled: true, dhcp: true, autoconf: true}')}\nroutes: {config: [{destination: "::/0", next-hop-address: "fe80::1%eno1", next-hop-interface: eno1}]}`,
    'routes.config.0.next-hop-address',
    /Omit the zone/,
  ],
];

for (const [name, text, field, words] of REFUSED) {
  t.test(`refused: ${name}`, async (t) => {
    const misfits = nmstateMisfits(documentIn(text), 'hostname');
    t.strictSame(
      misfits.map(({ path }) => path.join('.')),
      [field],
    );
    for (const { expected, found, fix } of misfits) {
      t.match(`expected ${expected}, found ${found}. ${fix}`, words);
      t.match(fix, /^\p{Lu}.*\.$/u);
    }
  });
}

const ACCEPTED: Readonly<Record<string, string>> = {
  'MTUs that fit': made('vlan', 'id: 5, base-iface: eno1', ', mtu: 1500', SMALL),
  'a VXLAN that fits': made(
    'vxlan',
    'id: 5, remote: 10.0.0.9, base-iface: eno1',
    ', mtu: 1450',
    SMALL,
  ),
  'a base of which no MTU is said': made('vlan', 'id: 5, base-iface: eno1', ', mtu: 9000'),
  'one number on two protocols': `interfaces: [{name: a, type: vlan, vlan: {base-iface: eno1, id: 7}, ${DHCP}}, {name: b, type: vlan, vlan: {base-iface: eno1, id: 7, protocol: 802.1ad}}]`,
  'an address of InfiniBand': made(
    'infiniband',
    'mode: datagram, pkey: 65535',
    ', mac-address: "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:56"',
  ),
  'a VLAN with the address of its adapter': `interfaces: [{name: lan, type: ethernet, identifier: mac-address, mac-address: "52:54:00:12:34:56"}, {name: lan.5, type: vlan, mac-address: "52:54:00:12:34:56", vlan: {base-iface: lan, id: 5}, ${DHCP}}]`,
  'a primary by the name of the kernel': bond('1', 'primary: eno9').replace(
    ']}}]',
    ']}}, {name: eno1, type: ethernet, identifier: mac-address, mac-address: "52:54:00:12:34:56"}]',
  ),
  'several targets': bond('1', 'arp_interval: 100, arp_ip_target: "10.0.0.1, 10.0.0.2"'),
  'the functions that there are': vfs('{id: 0, vlan-id: 0, qos: 7}, {id: 1}'),
  'an empty mode of failure': OVS(
    'port: [{name: br-ex}, {name: eno1}]',
    ', options: {fail-mode: ""}',
  ),
  'a bridge that keeps its ports': OVS('options: {stp: false}'),
  'a certificate for 802.1X': eap('eap-methods: [tls], client-cert: /a, private-key: /b'),
  'methods of 802.1X': eap('eap-methods: [ttls, fast], phase2-auth: pap, password: geheim'),
};

for (const [name, text] of Object.entries(ACCEPTED)) {
  t.test(`accepted: ${name}`, async (t) => {
    t.strictSame(nmstateMisfits(documentIn(text), 'hostname'), []);
  });
}

t.test('an interface needs the adapter that it is made of, whatever its type', async (t) => {
  for (const [type, section] of BASES) {
    const document = documentIn(made(type, `${section}, base-iface: eno7`));
    t.strictSame(expectedOnHost(document), ['eno7'], type);
  }
});

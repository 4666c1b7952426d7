/** Interfaces that nmstate accepts, and of which the kernel or NetworkManager makes nothing. */
import t from 'tap';
import { isRecord } from '../../../../lib/base/json.ts';
import { readDocument } from '../../../../lib/config/file/document.ts';
import { nmstateMisfits } from '../../../../lib/config/site/nmstate/document.ts';
import { networkNotices } from '../../../../lib/config/site/nmstate/notices.ts';

const DHCP = 'ipv4: {enabled: true, dhcp: true}';
const eap = (settings: string) =>
  `{name: eno1, type: ethernet, ${DHCP}, 802.1x: {identity: sno, ${settings}}}`;
const bridge = (options: string, port = '') =>
  `{name: br0, type: linux-bridge, ${DHCP}, bridge: {options: {${options}}, port: [{name: eno1${port}}]}}`;
const bond = (options: string) =>
  `{name: bond0, type: bond, ${DHCP}, link-aggregation: {mode: 4, port: [eno1], options: {${options}}}}`;
const BOND = 'interfaces.0.link-aggregation.options';
const OPTIONS = 'interfaces.0.bridge.options';
const PORT = 'interfaces.0.bridge.port.0';
const EAP = 'interfaces.0.802.1x';

const REFUSED: readonly (readonly [interfaces: string, field: string, words: RegExp])[] = [
  [`{name: all, ${DHCP}}`, 'interfaces.0.name', /Shorten/],
  [`{name: default, ${DHCP}}`, 'interfaces.0.name', /Shorten/],
  [`{name: "eno%d", ${DHCP}}`, 'interfaces.0.name', /Shorten/],
  [`{name: a, type: bridge, ${DHCP}}`, 'interfaces.0.type', /Did you mean linux-bridge\?/],
  [`{name: a, type: eth, ${DHCP}}`, 'interfaces.0.type', /Did you mean ethernet\?/],
  [`{name: a, type: team, ${DHCP}}`, 'interfaces.0.type', /Did you mean bond\?/],
  [`{name: a, type: hsr, ${DHCP}}`, 'interfaces.0.hsr', /a mapping/],
  [`{name: a, type: ipsec, ${DHCP}}`, 'interfaces.0.libreswan', /a mapping/],
  [`{name: a, type: mac-vlan, ${DHCP}}`, 'interfaces.0.mac-vlan', /a mapping/],
  [`{name: a, type: vxlan, ${DHCP}}`, 'interfaces.0.vxlan', /a mapping/],
  [
    `{name: a, type: vlan, vlan: {base-iface: b, id: 5}, ${DHCP}}, {name: b, type: bond, link-aggregation: {mode: 1, port: [c]}}, {name: c, type: vlan, vlan: {base-iface: a, id: 6}}`,
    'interfaces.0.name',
    /found a, made of b, made of c, made of a/,
  ],
  [
    `{name: a, type: linux-bridge, ${DHCP}, bridge: {port: [{name: b}]}}, {name: b, type: linux-bridge, bridge: {port: [{name: eno1}]}}`,
    `${PORT}.name`,
    /no bridge itself/,
  ],
  [
    `{name: br0, type: linux-bridge, ${DHCP}, bridge: {port: [eno1]}}`,
    PORT,
    /a mapping with name, .*\{name: eno1\}/,
  ],
  [bridge('group-forward-mask: 5'), `${OPTIONS}.group-forward-mask`, /without its bits 0, 1 and 2/],
  [bridge('hash-max: 100'), `${OPTIONS}.hash-max`, /a power of 2/],
  [bridge('vlan-default-pvid: 7'), `${OPTIONS}.vlan-default-pvid`, /without vlan at a port/],
  [bridge('', ', stp-priority: 64'), `${PORT}.stp-priority`, /from 0 to 63/],
  [bridge('', ', stp-path-cost: 65536'), `${PORT}.stp-path-cost`, /from 0 to 65535/],
  [bond('ad_actor_sys_prio: 0'), `${BOND}.ad_actor_sys_prio`, /from 1 to 65535/],
  [bond('ad_user_port_key: 1024'), `${BOND}.ad_user_port_key`, /from 0 to 1023/],
  [bond('lp_interval: 0'), `${BOND}.lp_interval`, /from 1 to/],
  [bond('resend_igmp: 256'), `${BOND}.resend_igmp`, /from 0 to 255/],
  [eap('eap-methods: [tls]'), EAP, /client-cert and private-key, which the method tls needs/],
  [eap('eap-methods: [peap], password: geheim'), EAP, /phase2-auth, which the method peap needs/],
  [eap('eap-methods: [ttls], phase2-auth: pap'), EAP, /expected password, which/],
  [eap('eap-methods: [md5], password: ""'), EAP, /expected password, which/],
];

/** What other programs call it, and what to write instead. */
const ELSEWHERE: readonly (readonly [interfaces: string, key: string, words: RegExp])[] = [
  ['{name: a, ipv4: {enabled: true, gateway: 10.0.0.1}}', 'ipv4.gateway', /as a route, beside/],
  [`{name: a, ${DHCP}, gateway4: 10.0.0.1}`, 'gateway4', /next-hop-address: 192/],
  [`{name: a, ${DHCP}, routes: []}`, 'routes', /as a route, beside interfaces/],
  [`{name: a, ${DHCP}, nameservers: {}}`, 'nameservers', /beside interfaces: dns-resolver/],
  ['{name: a, ipv4: {enabled: true, dns: []}}', 'ipv4.dns', /beside interfaces: dns-resolver/],
  [
    `{name: a, type: bond, ${DHCP}, link-aggregation: {mode: 1, port: [b], slaves: [b]}}`,
    'link-aggregation.slaves',
    /Did you mean port\?/,
  ],
  [
    `{name: a, type: vlan, ${DHCP}, vlan: {id: 5, base-iface: b, parent: b}}`,
    'vlan.parent',
    /Did you mean base-iface\?/,
  ],
  [
    '{name: a, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8, netmask: 8}]}}',
    'ipv4.address.0.netmask',
    /Did you mean prefix-length\?/,
  ],
];

const ACCEPTED: readonly string[] = [
  bridge(
    'vlan-default-pvid: 7, group-forward-mask: 8, hash-max: "512"',
    ', stp-priority: 63, vlan: {mode: access, tag: 5}',
  ),
  `{name: br0, type: linux-bridge, bridge: {port: [{name: bond0}]}}, {name: bond0, type: bond, link-aggregation: {mode: 1, port: [eno1]}}, {name: v5, type: vlan, vlan: {base-iface: br0, id: 5}, ${DHCP}}`,
  `{name: br-ex, type: ovs-bridge, bridge: {port: [{name: eno1}, {name: br-ex}]}}, {name: br-ex, type: ovs-interface, ${DHCP}}`,
  eap('eap-methods: [tls], client-cert: /a, private-key: /b'),
];

const judge = (interfaces: string) => {
  const { value, faults } = readDocument(`interfaces: [${interfaces}]`);
  if (!isRecord(value) || faults.length > 0) throw new Error(JSON.stringify(faults));
  return nmstateMisfits(value, 'hostname');
};

for (const [interfaces, field, words] of [
  ...REFUSED,
  ...ELSEWHERE.map(([text, key, words]) => [text, `interfaces.0.${key}`, words] as const),
]) {
  t.test(`refused: ${interfaces}`, async (t) => {
    const [misfit, ...others] = judge(interfaces);
    t.same(others, []);
    t.equal(misfit?.path.join('.'), field);
    t.match(`expected ${misfit?.expected}, found ${misfit?.found}. ${misfit?.fix}`, words);
  });
}

t.test('addresses without a way out are a notice', async (t) => {
  const address = (more: string) =>
    `interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}${more}`;
  const route = (destination: string, hop = '10.0.0.1', out = 'eno1') =>
    `]\nroutes: {config: [{destination: ${destination}, next-hop-address: "${hop}", next-hop-interface: ${out}}]}`;
  for (const text of [address(']'), address(route('10.9.0.0/16'))]) {
    t.match(networkNotices(text), [/^no default route in routes\.config/], text);
  }
  t.strictSame(
    networkNotices(
      `interfaces: [{name: eno1, ${DHCP}}]\ndns-resolver: {running: {server: [10.0.0.1]}}`,
    ),
    ['nmstate ignores dns-resolver.running, which is what it tells: write config'],
  );
  t.strictSame(networkNotices(address(route('0.0.0.0/0', '10.0.0.1', 'en01'))), [
    'routes.config[0] goes over en01, which is not among the interfaces; 10.0.0.1 is in the network of eno1',
  ]);
  const six = '{name: eno1, ipv6: {enabled: true, address: [{ip: "fe80::5", prefix-length: 64}]}}';
  t.strictSame(networkNotices(`interfaces: [${six}${route('::/0', 'fe80::1', 'eno2')}`), []);
  for (const text of [
    address(route('0.0.0.0/0')),
    address(route('0.0.0.0/0', '10.0.1.1', 'eno2')),
    address(`, {name: eno2, ${DHCP}}]`),
    address(', {name: eno2, ipv6: {enabled: true, autoconf: true, dhcp: true}}]'),
    `interfaces: [{name: eno1, ${DHCP}}]`,
  ]) {
    t.strictSame(networkNotices(text), [], text);
  }
});

t.test('right ones', async (t) => {
  for (const interfaces of ACCEPTED) t.strictSame(judge(interfaces), [], interfaces);
});

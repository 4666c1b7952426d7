/** Addresses that a host cannot have, or over which it reaches nobody: whatever file gives them. */
import t from 'tap';
import { isRecord } from '../../../../lib/base/json.ts';
import { readDocument } from '../../../../lib/config/file/document.ts';
import { hostAddressMisfits } from '../../../../lib/config/site/addresses/judge.ts';
import { clusterNetworks } from '../../../../lib/config/site/addresses/own-networks.ts';
import { nmstateMisfits } from '../../../../lib/config/site/nmstate/document.ts';
import { networkNotices } from '../../../../lib/config/site/nmstate/notices.ts';

const MACHINE = { networks: ['10.0.0.0/16', 'fd00::/64'], field: 'machine', isDefault: false };
const OWN = clusterNetworks(['10.128.0.0/14'], ['172.30.0.0/16']);

const eno = (name: string, ...addresses: readonly string[]) => {
  const list = (family: string) =>
    addresses
      .filter((each) => each.includes(':') === (family === 'ipv6'))
      .map((each) => each.split('/'))
      .map(([ip, length]) => `{ip: "${ip}", prefix-length: ${length}}`)
      .join();
  return `{name: ${name}, type: ethernet, ipv4: {enabled: true, address: [${list('ipv4')}]}, ipv6: {enabled: true, address: [${list('ipv6')}]}}`;
};
const route = (to: string, hop: string, out: string, more = '') =>
  `{destination: "${to}", next-hop-address: "${hop}", next-hop-interface: ${out}${more}}`;
const host = (interfaces: readonly string[], ...routes: readonly string[]) =>
  `interfaces: [${interfaces.join()}]\nroutes: {config: [${routes.join()}]}\n`;

const DHCP = '{name: eno9, type: ethernet, ipv4: {enabled: true, dhcp: true}}';
const DHCP6 = '{name: eno8, type: ethernet, ipv6: {enabled: true, dhcp: true, autoconf: true}}';
const ADDRESS = 'interfaces.0.ipv4.address.0.ip';
const HOP = 'routes.config.0.next-hop-address';

/** Each fault as `path: expected …, found …`; none: it is right. */
const CASES: Readonly<Record<string, { text: string; faults: readonly [string, RegExp][] }>> = {
  'a host with both families': {
    text: host(
      [eno('eno1', '10.0.0.5/24', 'fd00::5/64')],
      route('0.0.0.0/0', '10.0.0.1', 'eno1'),
      route('::/0', 'fe80::1', 'eno1'),
      route('10.9.0.0/16', '10.0.0.2', 'eno1'),
      // Of eno2 the document says nothing.
      route('10.8.0.0/16', '10.0.1.1', 'eno2'),
    ),
    faults: [],
  },
  'a route over an adapter that is named otherwise': {
    text: host([eno('eno1', '10.0.0.5/24')], route('0.0.0.0/0', '10.0.0.1', 'en01')),
    // Perhaps one that the document does not name: a notice.
    faults: [],
  },
  'networks of two addresses': {
    text: host([eno('eno1', '10.0.0.4/31', 'fd00::/127')]),
    faults: [],
  },
  'one address alone': { text: host([eno('eno1', '10.0.0.4/32')]), faults: [] },
  'a second network outside': {
    text: host([eno('eno1', '10.0.0.5/24'), eno('eno2', '192.168.0.5/24')]),
    faults: [],
  },
  'outside of the machine network': {
    text: host([eno('eno1', '192.168.0.5/24')]),
    faults: [[ADDRESS, /machine \(10\.0\.0\.0\/16\), found 192\.168\.0\.5\/24/]],
  },
  'outside in one family': {
    text: host([eno('eno1', '10.0.0.5/24', 'fd01::5/64')]),
    faults: [['interfaces.0.ipv6.address.0.ip', /machine \(fd00::\/64\), found fd01::5\/64/]],
  },
  'outside, beside DHCP': { text: host([eno('eno1', '192.168.0.5/24'), DHCP]), faults: [] },
  'the address of the network': {
    text: host([eno('eno1', '10.0.0.0/24')]),
    faults: [[ADDRESS, /found 10\.0\.0\.0, the address of the network itself/]],
  },
  'the broadcast address': {
    text: host([eno('eno1', '10.0.0.255/24')]),
    faults: [[ADDRESS, /found 10\.0\.0\.255, its broadcast address/]],
  },
  'the first address of a network of IPv6': {
    text: host([eno('eno1', 'fd00::/64')]),
    faults: [['interfaces.0.ipv6.address.0.ip', /the address of the network itself/]],
  },
  loopback: {
    text: host([eno('eno1', '127.0.0.5/8'), DHCP]),
    faults: [[ADDRESS, /an address of loopback/]],
  },
  'loopback on lo': {
    text: host([eno('lo', '127.0.0.1/8').replace('ethernet', 'loopback'), DHCP]),
    faults: [],
  },
  multicast: {
    text: host([eno('eno1', '239.0.0.5/8', 'ff02::5/64'), DHCP]),
    faults: [
      [ADDRESS, /an address of multicast/],
      ['interfaces.0.ipv6.address.0.ip', /an address of multicast/],
      // Only DHCP of IPv4 is asked.
    ],
  },
  'an address twice': {
    text: host([eno('eno1', '10.0.0.5/24'), eno('eno2', '10.0.0.5/24')]),
    faults: [['interfaces.1.ipv4.address.0.ip', /found 10\.0\.0\.5, which eno1 has too/]],
  },
  'an address twice, differently written': {
    text: host([eno('eno1', 'fd00::5/64'), eno('eno2', 'FD00:0::5/64')]),
    faults: [['interfaces.1.ipv6.address.0.ip', /fd00::5, which eno1 has too/]],
  },
  'an address of the link, twice': {
    text: host([eno('eno1', '10.0.0.5/24', 'fe80::5/64'), eno('eno2', 'fe80::5/64'), DHCP6]),
    faults: [],
  },
  'an address twice in VRFs': {
    text: host([
      eno('eno1', '10.0.0.5/24'),
      eno('eno2', '10.0.0.5/24'),
      '{name: vrf0, type: vrf, vrf: {port: [eno2], route-table-id: 7}}',
    ]),
    faults: [],
  },
  'a router in no network': {
    text: host([eno('eno1', '10.0.0.5/24')], route('0.0.0.0/0', '10.0.1.1', 'eno1')),
    faults: [[HOP, /a router in a network of eno1 \(10\.0\.0\.0\/24\), found 10\.0\.1\.1/]],
  },
  'a router of IPv6 in no network': {
    text: host([eno('eno1', 'fd00::5/64')], route('::/0', 'fd01::1', 'eno1')),
    faults: [[HOP, /found fd01::1, which is in none/]],
  },
  'a router behind a route of its own': {
    text: host(
      [eno('eno1', '10.0.0.5/32')],
      route('0.0.0.0/0', '10.0.1.1', 'eno1'),
      '{destination: 10.0.1.1/32, next-hop-interface: eno1}',
    ),
    faults: [],
  },
  'a router outside, of an address without a network': {
    text: host([eno('eno1', '10.0.0.5/32')], route('0.0.0.0/0', '10.0.1.1', 'eno1')),
    faults: [],
  },
  'a router of IPv6 outside, of an address without a network': {
    text: host([eno('eno1', 'fd00::5/128')], route('::/0', 'fd01::1', 'eno1')),
    faults: [],
  },
  'a router outside, where another address has a network': {
    text: host([eno('eno1', '10.0.0.5/32', '10.0.2.5/24')], route('0.0.0.0/0', '10.0.1.1', 'eno1')),
    faults: [[HOP, /found 10\.0\.1\.1, which is in none/]],
  },
  'a router in the network of another adapter': {
    text: host(
      [eno('eno1', '10.0.0.5/24'), eno('eno2', '10.0.1.5/24')],
      route('0.0.0.0/0', '10.0.1.1', 'eno1'),
    ),
    faults: [[HOP, /found 10\.0\.1\.1, which is in none/]],
  },
  'a router where DHCP gives the address': {
    text: host([DHCP], route('0.0.0.0/0', '10.0.1.1', 'eno9')),
    faults: [],
  },
  'its own address as the router': {
    text: host([eno('eno1', '10.0.0.5/24')], route('0.0.0.0/0', '10.0.0.5', 'eno1')),
    faults: [[HOP, /found 10\.0\.0\.5, the address of eno1 itself/]],
  },
  'the broadcast address as the router': {
    text: host([eno('eno1', '10.0.0.5/24')], route('0.0.0.0/0', '10.0.0.255', 'eno1')),
    faults: [[HOP, /its broadcast address/]],
  },
  'multicast as the router': {
    text: host([eno('eno1', '10.0.0.5/24')], route('0.0.0.0/0', '224.0.0.1', 'eno1')),
    faults: [[HOP, /an address of multicast/]],
  },
  'two default routes without a metric': {
    text: host(
      [eno('eno1', '10.0.0.5/24'), eno('eno2', '10.0.1.5/24')],
      route('0.0.0.0/0', '10.0.0.1', 'eno1'),
      route('0.0.0.0/0', '10.0.1.1', 'eno2'),
    ),
    faults: [
      ['routes.config.1.metric', /one default route of IPv4 with this metric, found no metric/],
    ],
  },
  'two default routes of one metric': {
    text: host(
      [eno('eno1', '10.0.0.5/24')],
      route('0.0.0.0/0', '10.0.0.1', 'eno1', ', metric: 100'),
      route('0.0.0.0/0', '10.0.0.2', 'eno1', ', metric: "100", table-id: 254'),
    ),
    faults: [['routes.config.1.metric', /found metric 100 in both/]],
  },
  'default routes of each family, metric and table': {
    text: host(
      [eno('eno1', '10.0.0.5/24', 'fd00::5/64')],
      route('0.0.0.0/0', '10.0.0.1', 'eno1', ', metric: 100'),
      route('0.0.0.0/0', '10.0.0.2', 'eno1', ', metric: 101'),
      route('0.0.0.0/0', '10.0.0.2', 'eno1', ', metric: 100, table-id: 7'),
      route('::/0', 'fd00::1', 'eno1', ', metric: 100'),
    ),
    faults: [],
  },
  'next hops that share the traffic': {
    text: host(
      [eno('eno1', '10.0.0.5/24')],
      route('0.0.0.0/0', '10.0.0.1', 'eno1', ', weight: 1'),
      route('0.0.0.0/0', '10.0.0.2', 'eno1', ', weight: 2'),
    ),
    faults: [],
  },
  'a name server in the network of Services': {
    text: `${host([eno('eno1', '10.0.0.5/24')])}dns-resolver: {config: {server: [10.0.0.1, 172.30.0.10]}}`,
    faults: [['dns-resolver.config.server.1', /outside of the Services' network/]],
  },
  'a second address among the pods': {
    text: host([eno('eno1', '10.0.0.5/24'), eno('eno2', '10.129.0.5/24')]),
    faults: [['interfaces.1.ipv4.address.0.ip', /without the pods' network/]],
  },
  'a route to more than the pods': {
    text: host(
      [eno('eno1', '10.0.0.5/24')],
      route('10.0.0.0/8', '10.0.0.1', 'eno1'),
      route('0.0.0.0/1', '10.0.0.1', 'eno1'),
      route('128.0.0.0/1', '10.0.0.1', 'eno1'),
    ),
    faults: [],
  },
  'routes to the pods, and to some of the Services': {
    text: host(
      [eno('eno1', '10.0.0.5/24')],
      route('10.128.0.0/14', '10.0.0.1', 'eno1'),
      route('172.30.7.0/24', '10.0.0.1', 'eno1'),
    ),
    faults: [
      ['routes.config.0.destination', /without the pods' network/],
      ['routes.config.1.destination', /without the Services' network/],
    ],
  },
  'name servers at no address of a host': {
    text: `${host([DHCP])}dns-resolver: {config: {server: [0.0.0.0, 224.0.0.251, 255.255.255.255, "::", "ff02::fb", 127.0.0.53]}}`,
    faults: [
      ['dns-resolver.config.server.0', /found 0\.0\.0\.0, an address of "this network"/],
      ['dns-resolver.config.server.1', /an address of multicast/],
      ['dns-resolver.config.server.2', /an address of no host/],
      ['dns-resolver.config.server.3', /an address of no host/],
      ['dns-resolver.config.server.4', /an address of multicast/],
    ],
  },
  'name servers at the ends of a network of the host': {
    text: `${host([eno('eno1', '10.0.0.5/24', 'fd00::5/64')])}dns-resolver: {config: {server: [10.0.0.0, 10.0.0.255, 10.0.1.255, "fd00::"]}}`,
    faults: [
      [
        'dns-resolver.config.server.0',
        /found 10\.0\.0\.0, the address of the network itself \(10\.0\.0\.0\/24\)/,
      ],
      ['dns-resolver.config.server.1', /found 10\.0\.0\.255, its broadcast address/],
    ],
  },
  'a family without an address and without DHCP': {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: false}, ipv6: {enabled: false}}',
    ]),
    faults: [['interfaces', /an interface that has addresses/]],
  },
  'families without addresses, and nothing asked': {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: false, address: []}, ipv6: {enabled: true, dhcp: false, autoconf: false}}',
    ]),
    faults: [['interfaces', /an interface that has addresses/]],
  },
  'a family of which only that it is on is said': {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: true}, ipv6: {enabled: false}}',
      DHCP6,
    ]),
    faults: [],
  },
  'a family of the cluster that the host does not have': {
    text: host(['{name: eno1, type: ethernet, ipv4: {enabled: true}, ipv6: {enabled: false}}']),
    faults: [['interfaces', /of the node in machine \(fd00::\/64\), found no interface with IPv6/]],
  },
  'a family that is on, and nothing gives an address': {
    text: host(['{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: false}}']),
    faults: [['interfaces', /machine \(10\.0\.0\.0\/16\), found no interface with IPv4/]],
  },
  'IPv6 from the router alone': {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: false}, ipv6: {enabled: true, dhcp: false}}',
      DHCP,
    ]),
    faults: [],
  },
  'all links down': {
    text: host([
      '{name: eno1, type: ethernet, state: down}',
      '{name: eno2, type: ethernet, state: absent}',
    ]),
    faults: [['interfaces', /an interface that is up, found eno1 down, eno2 absent/]],
  },
  'no addresses at all': {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: false}, ipv6: {enabled: false}}',
      '{name: bond0, type: bond, link-aggregation: {mode: 1, port: [eno1]}}',
    ]),
    faults: [['interfaces', /an interface that has addresses/]],
  },
  "OpenShift's bridge": {
    text: host([
      '{name: eno1, type: ethernet, ipv4: {enabled: false}, ipv6: {enabled: false}}',
      '{name: br-ex, type: ovs-bridge, bridge: {port: [{name: eno1}, {name: br-ex}]}}',
      '{name: br-ex, type: ovs-interface, ipv4: {enabled: true, dhcp: true}}',
      DHCP6,
    ]),
    faults: [],
  },
};

for (const [name, { text, faults }] of Object.entries(CASES)) {
  t.test(name, async (t) => {
    const { value } = readDocument(text);
    if (!isRecord(value)) throw new Error(text);
    t.strictSame(nmstateMisfits(value, 'hostname'), [], 'nmstate would take it');
    const found = hostAddressMisfits(value, MACHINE, OWN);
    const lines = found.map(
      (each) => `${each.path.join('.')}: ${each.expected}, found ${each.found}`,
    );
    t.equal(lines.length, faults.length, lines.join('\n'));
    for (const [index, [field, words]] of faults.entries()) {
      const fault = found.find(({ path }) => path.join('.') === field);
      t.ok(fault, `${field} among ${lines.join('\n')}`);
      t.match(`${fault?.expected}, found ${fault?.found}`, words, `${index}: ${field}`);
      t.match(fault?.fix, /^\p{Lu}.*\.$/u);
    }
  });
}

t.test('what nmstate reads over is a notice', async (t) => {
  const text = `interfaces:
- {name: eno1, type: ethernet, 802.1x: {indentity: sno}, ipv4: {dhcp: false, address: [{ip: 10.0.0.5, prefix-length: 24}], token: "::1"}}
- {name: eno2, type: ethernet, state: absent, mtuu: 1}
- {name: eno3, type: ethernet, ipv6: {enabled: true, dhcp: true, autoconf: true, dhcp-duid: ll}}
`;
  t.strictSame(networkNotices(text), [
    'nmstate ignores interfaces[0]["802.1x"].indentity: did you mean identity?',
    'nmstate ignores interfaces[0].ipv4.token: it is a key of the other family',
    'no interfaces[0].ipv4.enabled: nmstate sets the addresses only where ipv4 is enabled already; write enabled: true',
  ]);
  t.strictSame(networkNotices(undefined), []);
});

t.test('a secret with a fault is not shown', async (t) => {
  const { value } = readDocument(
    'interfaces: [{name: eno1, type: ethernet, 802.1x: {identity: sno, eap-methods: [md5], password: 12345}}]',
  );
  const misfits = isRecord(value) ? nmstateMisfits(value, 'hostname') : [];
  t.match(misfits, [{ expected: 'a text', found: 'another value' }]);
  t.equal(misfits.length, 1);
});

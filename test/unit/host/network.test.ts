import t from 'tap';
import {
  addressByFamily,
  addressesIn,
  hostAddresses,
  nodeIpsOf,
  parseAddresses,
} from '../../../lib/host/network.ts';
import { testHost } from '../agents/host/host.ts';
import { recordLimits } from './timers.ts';

const info = (more: object = {}) => ({
  family: 'inet',
  local: '10.0.0.5',
  prefixlen: 24,
  scope: 'global',
  ...more,
});
const configured = { interfaceName: 'eth0', address: '10.0.0.5', prefixLength: 24 };

t.test('addresses of the host, from the data of ip', async (t) => {
  const table: [string, object[], object[]][] = [
    ['configured', [info()], [configured]],
    [
      'leased',
      [info({ dynamic: true, valid_life_time: 3600 })],
      [{ ...configured, leaseSeconds: 3600 }],
    ],
    ['leased, without a time', [info({ dynamic: true })], [{ ...configured, leaseSeconds: 0 }]],
    ['configured, with a time', [info({ valid_life_time: 4294967295 })], [configured]],
    ['link-local', [info({ local: '169.254.1.1', scope: 'link' })], []],
    ['loopback', [info({ local: '127.0.0.1', scope: 'host' })], []],
    ['tentative', [info({ tentative: true })], []],
    ['deprecated', [info({ deprecated: true })], []],
    ['duplicate', [info({ dadfailed: true })], []],
    ['temporary, of IPv6', [info({ local: '2001:db8::aaaa', temporary: true })], []],
    [
      'of IPv6, made from a prefix',
      [
        info({
          family: 'inet6',
          local: '2001:DB8:0::5',
          prefixlen: 64,
          dynamic: true,
          mngtmpaddr: true,
        }),
      ],
      [{ ...configured, address: '2001:db8::5', prefixLength: 64, leaseSeconds: 0 }],
    ],
    ['without an address', [{ scope: 'global' }], []],
    ['without a prefix', [{ scope: 'global', local: '10.0.0.5' }], []],
    [
      'two',
      [info(), info({ local: '10.0.0.6' })],
      [configured, { ...configured, address: '10.0.0.6' }],
    ],
    ['fields of a later version', [info({ protocol: 'dhcp', label: 'eth0' })], [configured]],
  ];
  for (const [name, addr_info, expected] of table) {
    t.strictSame(parseAddresses([{ ifname: 'eth0', addr_info }]), expected, name);
  }
  t.strictSame(parseAddresses([]), []);
  t.strictSame(parseAddresses([{}, { ifname: 'lo' }, { ifname: 'eth0', addr_info: [info()] }]), [
    configured,
  ]);
  for (const bad of [null, {}, 'x', [{ addr_info: [info({ prefixlen: '24' })] }]]) {
    t.throws(() => parseAddresses(bad), JSON.stringify(bad));
  }
});

t.test('the addresses of this host', async (t) => {
  const { programs } = testHost(t);
  const limits = recordLimits(t);
  const data = JSON.stringify([{ ifname: 'eth0', addr_info: [info()] }]);
  programs.give('ip', `printf '%s' '${data}'`);
  t.strictSame(await hostAddresses(AbortSignal.timeout(60_000)), [configured]);
  t.same(programs.calls(), ['ip -json address show']);
  t.same(limits, [10_000]);
  await t.rejects(hostAddresses(AbortSignal.abort()), /stopped/);
});

t.test('addresses in a network', async (t) => {
  const at = (address: string) => ({ ...configured, address });
  const all = ['10.0.0.5', '10.0.1.5', '192.168.1.1', 'fd00::5'].map(at);
  const table: [string[], string[]][] = [
    [['10.0.0.0/24'], ['10.0.0.5']],
    [['10.0.0.0/16'], ['10.0.0.5', '10.0.1.5']],
    [
      ['10.0.1.0/24', '192.168.0.0/16'],
      ['10.0.1.5', '192.168.1.1'],
    ],
    [['0.0.0.0/0'], ['10.0.0.5', '10.0.1.5', '192.168.1.1']],
    [['10.0.0.5/32'], ['10.0.0.5']],
    [['fd00::/64'], ['fd00::5']],
    [
      ['::/0', '10.0.1.0/24'],
      ['10.0.1.5', 'fd00::5'],
    ],
    [['172.16.0.0/12'], []],
    [[], []],
  ];
  for (const [networks, expected] of table) {
    t.strictSame(addressesIn(all, networks), expected.map(at), networks.join());
  }
});

t.test('the address that identifies the host, in each family', async (t) => {
  const at = (address: string, prefixLength: number, leaseSeconds?: number) => ({
    interfaceName: 'eth0',
    address,
    prefixLength,
    ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
  });
  const ipv4 = at('10.0.0.5', 24, 3600);
  const configured6 = at('fd00::7', 64);
  const leased6 = at('fd00::ffff', 128, 3600);
  const fromPrefix6 = at('fd00::5054:ff:fe00:a', 64, 3600);
  const second6 = at('fd00::2', 64, 7200);
  const dual = ['10.0.0.0/24', 'fd00::/64'];
  type Expected = [family: string, address: string | undefined, rivals: string[]];
  const table: [string, string[], ReturnType<typeof at>[], Expected[]][] = [
    [
      'one of each',
      dual,
      [leased6, ipv4],
      [
        ['IPv4', '10.0.0.5', []],
        ['IPv6', 'fd00::ffff', []],
      ],
    ],
    [
      'IPv6 first',
      dual.toReversed(),
      [ipv4, leased6],
      [
        ['IPv6', 'fd00::ffff', []],
        ['IPv4', '10.0.0.5', []],
      ],
    ],
    [
      'one family is missing',
      dual,
      [ipv4],
      [
        ['IPv4', '10.0.0.5', []],
        ['IPv6', undefined, []],
      ],
    ],
    ['one family is not wanted', ['fd00::/64'], [ipv4, leased6], [['IPv6', 'fd00::ffff', []]]],
    ['none in the networks', ['fd01::/64'], [ipv4, leased6], [['IPv6', undefined, []]]],
    [
      'configured before leased',
      ['fd00::/64'],
      [leased6, fromPrefix6, configured6],
      [['IPv6', 'fd00::7', []]],
    ],
    [
      'leased by DHCPv6 before made from a prefix',
      ['fd00::/64'],
      [fromPrefix6, leased6],
      [['IPv6', 'fd00::ffff', []]],
    ],
    [
      'equals: the lowest, whatever the order',
      ['fd00::/64'],
      [fromPrefix6, second6],
      [['IPv6', 'fd00::2', ['fd00::5054:ff:fe00:a']]],
    ],
    [
      'two configured ones',
      ['10.0.0.0/24'],
      [at('10.0.0.9', 24), at('10.0.0.10', 24)],
      [['IPv4', '10.0.0.9', ['10.0.0.10']]],
    ],
  ];
  for (const [name, networks, addresses, expected] of table) {
    for (const order of [addresses, addresses.toReversed()]) {
      const found = addressByFamily(order, networks).map(({ family, address, rivals }) => [
        family,
        address?.address,
        rivals.map((rival) => rival.address),
      ]);
      t.strictSame(found, expected, name);
    }
  }
  t.strictSame(nodeIpsOf([leased6, ipv4], dual), ['10.0.0.5', 'fd00::ffff']);
  t.strictSame(nodeIpsOf([leased6], ['fd00::/64']), ['fd00::ffff']);
  t.equal(nodeIpsOf([leased6], dual), undefined, 'waits for the other family');
  t.equal(nodeIpsOf([ipv4], dual), undefined, 'whichever it is');
  t.equal(nodeIpsOf([], dual), undefined);
  t.equal(nodeIpsOf([ipv4], []), undefined, 'without a network');
});

import t from 'tap';
import { addressesIn, parseAddresses } from '../../../lib/host/network.ts';

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

t.test('addresses in a network', async (t) => {
  const at = (address: string) => ({ ...configured, address });
  const all = ['10.0.0.5', '10.0.1.5', '192.168.1.1'].map(at);
  const table: [string[], string[]][] = [
    [['10.0.0.0/24'], ['10.0.0.5']],
    [['10.0.0.0/16'], ['10.0.0.5', '10.0.1.5']],
    [
      ['10.0.1.0/24', '192.168.0.0/16'],
      ['10.0.1.5', '192.168.1.1'],
    ],
    [['0.0.0.0/0'], ['10.0.0.5', '10.0.1.5', '192.168.1.1']],
    [['10.0.0.5/32'], ['10.0.0.5']],
    [['172.16.0.0/12'], []],
    [[], []],
  ];
  for (const [networks, expected] of table) {
    t.strictSame(addressesIn(all, networks), expected.map(at), networks.join());
  }
});

import t from 'tap';
import {
  canonicalAddress,
  familyOf,
  isAddress,
  urlHost,
} from '../../../../lib/base/network/address.ts';
import {
  addressAt,
  contains,
  networkText,
  overlap,
  parseNetwork,
} from '../../../../lib/base/network/network.ts';
import { nodeIpsSchema } from '../../../../lib/base/network/node-ips.ts';

function network(text: string) {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new Error(`${text} is no network`);
  return parsed;
}

t.test('networks, without host bits, in normalized form', async (t) => {
  const table = {
    '10.0.0.0/16': '10.0.0.0/16',
    '10.0.7.9/16': '10.0.0.0/16',
    '0.0.0.0/0': '0.0.0.0/0',
    '192.0.2.1/32': '192.0.2.1/32',
    'fd00::/64': 'fd00::/64',
    'FD00:0:0:1::5/64': 'fd00:0:0:1::/64',
    '2001:db8:ffff:ffff::/49': '2001:db8:ffff:8000::/49',
    '::/0': '::/0',
    'fd00::1/128': 'fd00::1/128',
  };
  for (const [text, expected] of Object.entries(table)) {
    t.equal(networkText(network(text)), expected, text);
  }
  const none = [
    ...['', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/8/8'],
    ...[
      '10/8',
      '010.0.0.0/8',
      '0x0a.0.0.0/8',
      'fd00::/129',
      'fd00::/',
      'fd00:::/64',
      'fe80::%lo/64',
    ],
    ...[' 10.0.0.0/8', '10.0.0.0/8 ', 'localhost/8', '::ffff:300.1.1.1/96'],
  ];
  for (const text of none) t.equal(parseNetwork(text), undefined, JSON.stringify(text));
});

t.test('which addresses are in a network', async (t) => {
  const inside: [string, string, boolean][] = [
    ['10.0.0.0/24', '10.0.0.255', true],
    ['10.0.0.0/24', '10.0.1.0', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['fd00::/64', 'fd00::ffff:ffff:ffff:ffff', true],
    ['fd00::/64', 'fd00:0:0:1::', false],
    ['fd00::5/128', 'FD00:0::5', true],
    ['::/0', '10.0.0.1', false],
    ['0.0.0.0/0', '::a00:1', false],
  ];
  for (const [outer, address, expected] of inside) {
    t.equal(contains(network(outer), address), expected, `${address} in ${outer}`);
  }
  const sharing: [string, string, boolean][] = [
    ['10.0.0.0/8', '10.9.0.0/16', true],
    ['10.9.0.0/16', '10.0.0.0/8', true],
    ['10.0.0.0/16', '10.1.0.0/16', false],
    ['fd00::/48', 'fd00:0:0:ffff::/64', true],
    ['fd00::/64', 'fd00:0:0:1::/64', false],
    ['::/0', '0.0.0.0/0', false],
  ];
  for (const [a, b, expected] of sharing) {
    t.equal(overlap(network(a), network(b)), expected, `${a} and ${b}`);
  }
});

t.test('the n-th address', async (t) => {
  t.equal(addressAt(network('fd00::/64'), 2 ** 40), 'fd00::100:0:0');
  t.equal(addressAt(network('fd00::/127'), 1), 'fd00::1');
  t.equal(addressAt(network('fd00::/127'), 2), undefined);
  t.equal(addressAt(network('10.0.0.0/32'), 0), '10.0.0.0');
  t.equal(addressAt(network('255.255.255.254/31'), 1), '255.255.255.255');
});

t.test('addresses', async (t) => {
  const spellings = {
    'FE80:0:0::1': 'fe80::1',
    '2001:db8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    '::ffff:192.0.2.1': canonicalAddress('::ffff:c000:201'),
    '192.0.2.1': '192.0.2.1',
    'not an address': 'not an address',
    '010.0.0.1': '010.0.0.1',
  };
  for (const [text, expected] of Object.entries(spellings)) {
    t.equal(canonicalAddress(text), expected, text);
  }
  t.equal(isAddress('fe80::1%eth0'), false, 'a zone is of one host only');
  t.same(['10.0.0.0/8', 'fd00::1'].map(familyOf), ['IPv4', 'IPv6']);
  t.same(['10.0.0.1', 'fd00::1'].map(urlHost), ['10.0.0.1', '[fd00::1]']);
});

t.test('a node has one address, or one of each family', async (t) => {
  const good = [['10.0.0.1'], ['fd00::1'], ['10.0.0.1', 'fd00::1'], ['fd00::1', '10.0.0.1']];
  for (const list of good) t.same(nodeIpsSchema.parse(list), list);
  for (const list of [[], ['10.0.0.1', '10.0.0.2'], ['fd00::1', 'fd00::2'], ['a', 'b', 'c'], 'x']) {
    t.notOk(nodeIpsSchema.safeParse(list).success, JSON.stringify(list));
  }
});

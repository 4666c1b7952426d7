import t from 'tap';
import type { NodeIps } from '../../../../lib/base/network/node-ips.ts';
import { lostAddress } from '../../../../lib/base/network/node-ips.ts';

t.test('what the reboot did to the addresses', async (t) => {
  const both: NodeIps = ['192.0.2.10', '2001:db8::10'];
  const ipv4 = { family: 'IPv4', expected: '192.0.2.10' };
  const ipv6 = { family: 'IPv6', expected: '2001:db8::10' };
  const table: [string, NodeIps, string[], object | undefined][] = [
    ['nothing', both, ['2001:db8::10', '192.0.2.10'], undefined],
    ['one more', ['192.0.2.10'], ['192.0.2.10', '192.0.2.11', '2001:db8::1'], undefined],
    ['not there yet', both, [], { ...ipv4, found: [] }],
    ['one family not there yet', both, ['192.0.2.10'], { ...ipv6, found: [] }],
    ['another IPv4 address', both, ['192.0.2.11'], { ...ipv4, found: ['192.0.2.11'] }],
    [
      'another IPv6 address, while IPv4 is not there yet',
      both,
      ['2001:db8::11', '2001:db8::12'],
      { ...ipv6, found: ['2001:db8::11', '2001:db8::12'] },
    ],
  ];
  for (const [name, nodeIps, addresses, expected] of table) {
    t.strictSame(lostAddress(nodeIps, addresses), expected, name);
  }
});

import t from 'tap';
import { addressesBeside, nodeView } from '../../../lib/csr/views.ts';

const loopback = [{ address: '127.0.0.1', internal: true }];
const uplink = [
  { address: '192.0.2.10', internal: false },
  { address: 'FE80::1', internal: false },
];
const bridge = [{ address: '10.128.0.1', internal: false }];

t.test("the node's interface is the one that has its address", async (t) => {
  t.same(addressesBeside(['192.0.2.10'], [loopback, bridge, uplink]), ['192.0.2.10', 'fe80::1']);
  t.same(addressesBeside(['198.51.100.1'], [loopback, bridge, uplink]), [], 'none has it');
  t.same(addressesBeside(['127.0.0.1'], [loopback, uplink]), [], 'loopback is none');
});

t.test('the families may be on two interfaces', async (t) => {
  const second = [{ address: '2001:DB8:0::7', internal: false }];
  const found = addressesBeside(['192.0.2.10', '2001:db8::7'], [uplink, bridge, second]);
  t.same(found, ['192.0.2.10', 'fe80::1', '2001:db8::7']);
});

t.test('only InternalIPs of a node count, in normalized form', async (t) => {
  const node = {
    metadata: { name: 'n1' },
    status: {
      addresses: [
        { type: 'Hostname', address: 'n1' },
        { type: 'InternalIP', address: '2001:DB8:0::1' },
        { type: 'ExternalIP', address: '203.0.113.1' },
      ],
    },
  };
  t.same(nodeView(node), { name: 'n1', internalIps: ['2001:db8::1'] });
});

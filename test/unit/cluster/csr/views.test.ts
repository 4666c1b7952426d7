import t from 'tap';
import { addressesOf, nodeView } from '../../../../lib/cluster/csr/views.ts';

t.test('the addresses of a host are those of all its interfaces but loopback', async (t) => {
  const interfaces = [
    [{ address: '127.0.0.1', internal: true }],
    undefined,
    [{ address: '10.128.0.1', internal: false }],
    [
      { address: '192.0.2.10', internal: false },
      { address: '2001:DB8:0::7', internal: false },
    ],
  ];
  t.same([...addressesOf(interfaces)], ['10.128.0.1', '192.0.2.10', '2001:db8::7']);
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

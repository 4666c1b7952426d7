import t from 'tap';
import {
  judgeAddresses,
  type KnownAddresses,
} from '../../../../lib/change/identity/moved-address.ts';
import { parseAddresses } from '../../../../lib/host/network.ts';

const identity = {
  hostname: 'edge-0',
  nodeIps: ['192.0.2.10'] as [string],
  machineNetwork: ['192.0.2.0/24'],
  clusterName: 'edge',
  baseDomain: 'example.test',
};
const dual = {
  ...identity,
  nodeIps: ['192.0.2.10', '2001:db8::10'] as [string, string],
  machineNetwork: ['192.0.2.0/24', '2001:db8::/64'],
};
const known: KnownAddresses = {
  identity,
  inside: ['10.128.0.0/14', '172.30.0.0/16', 'fd01::/48'],
  interfaces: { '192.0.2.10': 'eth0' },
};

/** `eth0 192.0.2.20/24`, with `leased` after it for an address whose lease ends. */
const host = (...lines: string[]) =>
  parseAddresses(
    lines.map((line) => {
      const [ifname, cidr = '', how] = line.split(' ');
      const [local, length] = cidr.split('/');
      const scope = /^(169\.254|fe80)/.test(cidr) ? 'link' : 'global';
      const lease = how === 'leased' ? { dynamic: true, valid_life_time: 60 } : {};
      return { ifname, addr_info: [{ local, prefixlen: Number(length), scope, ...lease }] };
    }),
  );

t.test('an address that the host has is kept, wherever it is', async (t) => {
  t.same(judgeAddresses(known, host('eth0 192.0.2.10/24', 'eth0 192.0.2.20/24')), {
    kind: 'kept',
    interfaces: { '192.0.2.10': 'eth0' },
  });
  t.match(judgeAddresses(known, host('eth1 192.0.2.10/24')), {
    kind: 'kept',
    interfaces: { '192.0.2.10': 'eth1' },
  });
});

t.test('the only address in its place is followed', async (t) => {
  const table: [what: string, lines: string[], to: object][] = [
    ['of the same network', ['eth0 192.0.2.20/24'], { nodeIps: ['192.0.2.20'] }],
    [
      'of another network, on the same interface',
      ['eth0 198.51.100.7/25', 'eth1 192.0.2.77/24'],
      { nodeIps: ['198.51.100.7'], machineNetwork: ['198.51.100.0/25'] },
    ],
    [
      'on another interface, since the first one is gone',
      ['eth1 192.0.2.20/24', 'eth2 203.0.113.2/24'],
      { nodeIps: ['192.0.2.20'] },
    ],
    [
      'beside one of the other family and a link-local one',
      ['eth0 192.0.2.20/24', 'eth0 2001:db8::20/64', 'eth0 169.254.3.4/16'],
      { nodeIps: ['192.0.2.20'] },
    ],
  ];
  for (const [what, lines, to] of table) {
    const expected = { kind: 'moved', to: { ...identity, ...to } };
    t.same(judgeAddresses(known, host(...lines)), expected, what);
  }
});

t.test('of two families, the one that has moved', async (t) => {
  const interfaces = { '192.0.2.10': 'eth0', '2001:db8::10': 'eth0' };
  const both = { ...known, identity: dual, interfaces };
  t.match(judgeAddresses(both, host('eth0 192.0.2.10/24', 'eth0 2001:db8::20/64')), {
    kind: 'moved',
    to: { nodeIps: ['192.0.2.10', '2001:db8::20'], machineNetwork: dual.machineNetwork },
  });
  const leases = [
    'eth0 192.0.2.10/24',
    'eth0 2001:db8::20/128 leased',
    'eth0 2001:db8::5/64 leased',
  ];
  t.match(judgeAddresses(both, host(...leases)), {
    to: { nodeIps: ['192.0.2.10', '2001:db8::20'] },
  });
  t.same(judgeAddresses(both, host('eth0 192.0.2.10/24')), {
    kind: 'unclear',
    found: 'no IPv6 address on eth0',
  });
});

t.test('what cannot be the address of the Node is not followed', async (t) => {
  const table: [what: string, lines: string[], found: string][] = [
    ['none', ['eth0 2001:db8::20/64'], 'no IPv4 address on eth0'],
    ['none anywhere', [], 'no IPv4 address in the machine network'],
    ['link-local only', ['eth0 169.254.3.4/16'], 'no IPv4 address in the machine network'],
    [
      'only of another interface and network',
      ['eth1 203.0.113.2/24'],
      'no IPv4 address in the machine network',
    ],
    [
      'two of the same kind',
      ['eth0 192.0.2.20/24', 'eth0 192.0.2.21/24'],
      '192.0.2.20/24 and 192.0.2.21/24 on eth0',
    ],
    [
      'a lease beside a configured address',
      ['eth0 192.0.2.20/24 leased', 'eth0 192.0.2.5/32'],
      '192.0.2.20/24 and 192.0.2.5/32 on eth0',
    ],
    [
      'one of the network of pods',
      ['eth0 10.129.3.4/24'],
      "10.129.3.4/24, in the cluster's own network 10.128.0.0/14",
    ],
    [
      'one whose network contains that of Services',
      ['eth0 172.16.0.9/12'],
      "172.16.0.9/12, in the cluster's own network 172.30.0.0/16",
    ],
  ];
  for (const [what, lines, found] of table) {
    t.same(judgeAddresses(known, host(...lines)), { kind: 'unclear', found }, what);
  }
});

t.test('where the interface is not known, only the machine network counts', async (t) => {
  const unknown = { ...known, interfaces: {} };
  const lines = host('eth0 192.0.2.20/24', 'cni0 10.128.0.1/23');
  t.match(judgeAddresses(unknown, lines), { to: { nodeIps: ['192.0.2.20'] } });
  t.match(judgeAddresses(unknown, host('eth0 198.51.100.7/25')), { kind: 'unclear' });
});

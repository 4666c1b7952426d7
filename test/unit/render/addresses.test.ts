import t from 'tap';
import {
  addressAt,
  apiServiceIps,
  firstSubnet,
  nodeMaskSizes,
} from '../../../lib/render/kubernetes/addresses.ts';

for (const [cidr, index, expected] of [
  ['172.30.0.0/16', 1, '172.30.0.1'],
  ['172.30.0.0/16', 10, '172.30.0.10'],
  ['172.30.0.99/16', 1, '172.30.0.1'],
  ['10.0.0.240/28', 10, '10.0.0.250'],
  ['10.0.0.0/16', 256, '10.0.1.0'],
  ['fd02::/112', 10, 'fd02::a'],
  ['FD02:0::7/112', 1, 'fd02::1'],
  ['2001:db8::ffff:0/112', 65535, '2001:db8::ffff:ffff'],
] as const) {
  t.test(`address ${index} of ${cidr}`, async (t) => {
    t.equal(addressAt(cidr, index, 'f'), expected);
  });
}

for (const [cidr, found] of [
  ['172.30.0.0', /is not a network/],
  ['', /is not a network/],
  ['172.30.0.0/33', /is not a network/],
  ['172.30.0.0/1/2', /is not a network/],
  ['300.1.1.1/16', /is not a network/],
  ['fd00::/129', /is not a network/],
  ['fe80::%eth0/64', /is not a network/],
  ['fd02::/125', /too small/],
  ['172.30.0.0/30', /^networking\.serviceNetwork is too small; expected at least 11 addresses/],
] as const) {
  t.test(`"${cidr}" has no tenth address`, async (t) => {
    t.throws(() => addressAt(cidr, 10, 'networking.serviceNetwork'), {
      kind: 'usage',
      message: found,
    });
  });
}

t.test('the first subnet', async (t) => {
  t.equal(firstSubnet('10.128.0.0/14', 23, 'f'), '10.128.0.0/23');
  t.equal(firstSubnet('10.131.7.9/14', 24, 'f'), '10.128.0.0/24');
  t.throws(() => firstSubnet('10.128.0.0/14', 13, 'networking.clusterNetwork'), {
    kind: 'usage',
    message: /^networking\.clusterNetwork: hostPrefix.*from 14 to 30; found 13/,
  });
  t.throws(() => firstSubnet('10.128.0.0/14', 31, 'f'), { kind: 'usage', message: /hostPrefix/ });
  t.equal(firstSubnet('10.128.0.0/14', 14, 'f'), '10.128.0.0/14', 'all of it');
  t.equal(firstSubnet('10.128.0.0/14', 30, 'f'), '10.128.0.0/30', 'room for one pod');
  t.equal(firstSubnet('fd01::/48', 126, 'f'), 'fd01::/126', 'room for one pod');
  t.equal(firstSubnet('fd01::/48', 64, 'f'), 'fd01::/64');
  t.equal(firstSubnet('fd01:0:0:7::/48', 64, 'f'), 'fd01::/64');
  t.throws(() => firstSubnet('fd01::/48', 127, 'f'), { kind: 'usage', message: /hostPrefix/ });
});

t.test('one of each in a dual-stack cluster', async (t) => {
  t.same(apiServiceIps({ serviceNetwork: ['fd02::/112', '172.30.0.0/16'] }), [
    'fd02::1',
    '172.30.0.1',
  ]);
  const clusterNetwork = [
    { cidr: 'fd01::/48', hostPrefix: 64 },
    { cidr: '10.128.0.0/14', hostPrefix: 23 },
  ];
  const [ipv6 = { cidr: '', hostPrefix: 0 }] = clusterNetwork;
  t.strictSame(nodeMaskSizes({ clusterNetwork }), {
    'node-cidr-mask-size-ipv6': 64,
    'node-cidr-mask-size-ipv4': 23,
  });
  // The controller-manager refuses to start with a mask size for a family that it does not have.
  t.strictSame(nodeMaskSizes({ clusterNetwork: [ipv6] }), { 'node-cidr-mask-size-ipv6': 64 });
});

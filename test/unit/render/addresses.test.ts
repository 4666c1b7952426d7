import t from 'tap';
import { addressAt, firstSubnet } from '../../../lib/render/kubernetes/addresses.ts';

for (const [cidr, index, expected] of [
  ['172.30.0.0/16', 1, '172.30.0.1'],
  ['172.30.0.0/16', 10, '172.30.0.10'],
  ['172.30.0.99/16', 1, '172.30.0.1'],
  ['10.0.0.240/28', 10, '10.0.0.250'],
  ['10.0.0.0/16', 256, '10.0.1.0'],
] as const) {
  t.test(`address ${index} of ${cidr}`, async (t) => {
    t.equal(addressAt(cidr, index, 'f'), expected);
  });
}

for (const [cidr, found] of [
  ['172.30.0.0', /not an IPv4 network/],
  ['', /not an IPv4 network/],
  ['172.30.0.0/33', /not an IPv4 network/],
  ['172.30.0.0/1/2', /not an IPv4 network/],
  ['300.1.1.1/16', /not an IPv4 network/],
  ['fd00::/112', /not an IPv4 network/],
  ['172.30.0.0/30', /too small/],
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
  t.throws(() => firstSubnet('10.128.0.0/14', 13, 'f'), { kind: 'usage', message: /hostPrefix/ });
  t.throws(() => firstSubnet('10.128.0.0/14', 31, 'f'), { kind: 'usage', message: /hostPrefix/ });
});

import t from 'tap';
import {
  differences,
  type Identity,
  identityOf,
  inputFor,
  machineNetworkFor,
} from '../../../../lib/change/identity/identity.ts';
import { input } from '../../render/rendered-host.ts';

const from = identityOf(input);
const to: Identity = {
  hostname: 'edge-9',
  nodeIps: ['198.51.100.7'],
  machineNetwork: ['198.51.100.0/24'],
  clusterName: 'shop',
  baseDomain: 'example.org',
};

t.test('an input for another identity differs in that alone', async (t) => {
  t.strictSame(identityOf(inputFor(input, to)), to);
  t.strictSame(inputFor(inputFor(input, to), from), input, 'and there is a way back');
  t.strictSame(inputFor(input, from), input);
  t.equal(inputFor(input, to).cluster.clusterId, input.cluster.clusterId);
});

t.test('a name of the install-config follows', async (t) => {
  const { hostname: _, ...cluster } = input.cluster;
  const named = { ...input, cluster: { ...cluster, hostname: from.hostname } };
  t.equal(inputFor(named, to).cluster.hostname, 'edge-9');
  t.notOk('hostname' in inputFor({ ...input, cluster }, to).cluster);
});

t.test('the proxy is not used for the new names and networks', async (t) => {
  const own = `api-int.${from.clusterName}.${from.baseDomain}`;
  const noProxy = ['10.0.0.0/8', own, ...from.machineNetwork].toSorted();
  const proxied = { ...input, cluster: { ...input.cluster, proxy: { noProxy } } };
  t.strictSame(inputFor(proxied, to).cluster.proxy?.noProxy, [
    '10.0.0.0/8',
    '198.51.100.0/24',
    'api-int.shop.example.org',
  ]);
  t.strictSame(inputFor(proxied, from).cluster.proxy?.noProxy, noProxy);
  const site = `.${from.clusterName}.${from.baseDomain}`;
  const named = { ...input, cluster: { ...input.cluster, proxy: { noProxy: [...noProxy, site] } } };
  const { noProxy: moved } = inputFor(named, to).cluster.proxy ?? {};
  t.ok(moved?.includes('.shop.example.org') && !moved.includes(site), 'all names of a site');
  const none = { ...input, cluster: { ...input.cluster, proxy: { noProxy: ['*'] } } };
  t.strictSame(inputFor(none, to).cluster.proxy?.noProxy, ['*']);
});

t.test('the machine network follows the address', async (t) => {
  const has = (address: string, prefixLength: number) => ({ address, prefixLength });
  const cases: [string, ReturnType<typeof machineNetworkFor>, string[]][] = [
    [
      'in the same network',
      machineNetworkFor(['192.0.2.0/24'], ['192.0.2.99'], []),
      ['192.0.2.0/24'],
    ],
    [
      'in another one',
      machineNetworkFor(['192.0.2.0/24'], ['198.51.100.7'], [has('198.51.100.7', 25)]),
      ['198.51.100.0/25'],
    ],
    [
      'of one family only',
      machineNetworkFor(
        ['192.0.2.0/24', '2001:db8::/64'],
        ['192.0.2.9', '2001:db8:1::7'],
        [has('2001:db8:1::7', 64)],
      ),
      ['192.0.2.0/24', '2001:db8:1::/64'],
    ],
    [
      'of the first family only',
      machineNetworkFor(
        ['192.0.2.0/24', '2001:db8::/64'],
        ['198.51.100.7', '2001:db8::7'],
        [has('2001:db8::7', 128), has('198.51.100.7', 25)],
      ),
      ['198.51.100.0/25', '2001:db8::/64'],
    ],
    [
      'of an address without a network',
      machineNetworkFor(['192.0.2.0/24'], ['198.51.100.7'], []),
      ['198.51.100.7'],
    ],
  ];
  for (const [title, found, expected] of cases) t.strictSame(found, expected, title);
});

t.test('what differs', async (t) => {
  t.strictSame(differences(from, from), []);
  t.strictSame(differences(from, to), [
    'name edge-0 -> edge-9',
    'address 192.0.2.10 -> 198.51.100.7',
    `machine network ${from.machineNetwork.join(', ')} -> 198.51.100.0/24`,
    `domain ${from.clusterName}.${from.baseDomain} -> shop.example.org`,
  ]);
});

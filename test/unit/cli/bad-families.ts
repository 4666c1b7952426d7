import type { Case, Edit } from './install-config-file.ts';

/** The networks of the good file, lines 13 to 19. */
const GOOD_NETWORKS = `  machineNetwork:
  - cidr: 192.168.7.0/24
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:
  - 172.30.0.0/16
`;

export interface Networks {
  machine?: readonly string[];
  cluster?: readonly string[];
  service?: readonly string[];
}

/** Replaces the networks, each list on the line after its name; cluster networks as flow mappings. */
export function networks({ machine, cluster, service }: Networks): Edit {
  const list = (name: string, entries: readonly string[] | undefined) =>
    entries === undefined ? '' : `  ${name}:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`;
  const lines = [
    list(
      'machineNetwork',
      machine?.map((cidr) => `{cidr: '${cidr}'}`),
    ),
    list(
      'clusterNetwork',
      cluster?.map((entry) => (entry.startsWith('{') ? entry : `{cidr: '${entry}'}`)),
    ),
    list(
      'serviceNetwork',
      service?.map((cidr) => `'${cidr}'`),
    ),
  ];
  return [GOOD_NETWORKS, lines.join('')];
}

const IPV6: Required<Networks> = {
  machine: ['fd00:7::/64'],
  cluster: ['fd01::/48'],
  service: ['fd02::/112'],
};
const DUAL: Required<Networks> = {
  machine: ['192.168.7.0/24', 'fd00:7::/64'],
  cluster: ['10.128.0.0/14', 'fd01::/48'],
  service: ['172.30.0.0/16', 'fd02::/112'],
};

const MACHINE = '14 networking.machineNetwork[0].cidr';

/** Invalid machine networks, with the expected messages. */
const UNUSABLE: readonly [string, RegExp][] = [
  ['fd00:7::/129', /an IPv4 or IPv6 network in CIDR notation/],
  ['fd00:7::', /an IPv4 or IPv6 network in CIDR notation/],
  ['fd00:7::%eth0/64', /an IPv4 or IPv6 network in CIDR notation/],
  ['fd00::7::/64', /Write it as 10\.0\.0\.0\/16 or fd00:1::\/64/],
  ['fd00:7::5/64', /the first address of a network.*Write it as fd00:7::\/64/],
  ['2001:db8:0:1::/63', /Write it as 2001:db8::\/63/],
  ['fe80::/64', /fe80::\/10, which is link-local/],
  ['ff05::/64', /ff00::\/8, which is multicast/],
  ['::1/128', /which is loopback/],
  ['::/0', /network outside of/],
  ['::ffff:192.0.2.0/120', /stands for IPv4 addresses.*Write it as an IPv4 network/],
];

/** Address families that cannot be combined, and sizes that Kubernetes does not accept. */
export const families: readonly Case[] = [
  ...UNUSABLE.map(([cidr, says]) => ({
    name: `${cidr} as machine network`,
    edits: [networks({ ...IPV6, machine: [cidr] })],
    faults: [MACHINE],
    says,
  })),
  {
    name: 'pods of IPv4 in an IPv6 network',
    edits: [networks({ ...IPV6, cluster: ['10.128.0.0/14'] })],
    faults: ['16 networking.clusterNetwork'],
    says: /expected IPv6, as in networking\.machineNetwork, found IPv4/,
  },
  {
    name: 'pods of both families in an IPv4 network',
    edits: [networks({ ...DUAL, machine: ['192.168.7.0/24'] })],
    faults: ['16 networking.clusterNetwork', '19 networking.serviceNetwork'],
    says: /expected IPv4, as in networking\.machineNetwork, found IPv4 and then IPv6/,
  },
  {
    name: 'services of one family in a dual-stack cluster',
    edits: [networks({ ...DUAL, service: ['172.30.0.0/16'] })],
    faults: ['20 networking.serviceNetwork'],
    says: /expected IPv4 and then IPv6/,
  },
  {
    name: 'the families in another order',
    edits: [networks({ ...DUAL, service: ['fd02::/112', '172.30.0.0/16'] })],
    faults: ['20 networking.serviceNetwork'],
    says: /found IPv6 and then IPv4.*the same families in the same order/,
  },
  {
    name: 'IPv6 without a machine network',
    edits: [networks({ cluster: ['fd01::/48'], service: ['fd02::/112'] })],
    faults: ['11 networking.machineNetwork'],
    says: /found nothing\. Set the network of the host/,
  },
  {
    name: 'dual-stack without a machine network',
    edits: [networks({ service: ['172.30.0.0/16', 'fd02::/112'] })],
    faults: ['11 networking.machineNetwork'],
    says: /expected IPv4 and then IPv6, as in networking\.serviceNetwork/,
  },
  {
    name: 'two IPv6 service networks',
    edits: [networks({ ...IPV6, service: ['fd02::/112', 'fd03::/112'] })],
    faults: ['19 networking.serviceNetwork[1]'],
    says: /one IPv6 network.*Remove it, or fd02::\/112/,
  },
  {
    name: 'two cluster networks of a family',
    edits: [networks({ ...DUAL, cluster: [...DUAL.cluster, '10.64.0.0/14'] })],
    faults: ['19 networking.clusterNetwork[2].cidr'],
    says: /one IPv4 network in networking\.clusterNetwork/,
  },
  {
    name: 'an IPv6 service network that is too large',
    edits: [networks({ ...IPV6, service: ['fd02::/64'] })],
    faults: ['18 networking.serviceNetwork[0]'],
    says: /a prefix length from 108 to 124, found fd02::\/64\. Choose one such as \/112/,
  },
  {
    name: 'an IPv6 service network that is too small',
    edits: [networks({ ...IPV6, service: ['fd02::/125'] })],
    faults: ['18 networking.serviceNetwork[0]'],
  },
  {
    name: 'an IPv4 service network that is too large',
    edits: [['172.30.0.0/16', '172.0.0.0/11']],
    faults: ['19 networking.serviceNetwork[0]'],
    says: /a prefix length from 12 to 28/,
  },
  {
    name: 'an IPv4 service network that is too small',
    edits: [['172.30.0.0/16', '172.30.0.0/29']],
    faults: ['19 networking.serviceNetwork[0]'],
  },
  {
    name: 'more nodes than the controller-manager counts in IPv6',
    edits: [networks({ ...IPV6, cluster: ["{cidr: 'fd01::/40', hostPrefix: 64}"] })],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
    says: /from 40 to 56 in fd01::\/40, found 64\..*at most 16 bits longer for IPv6/,
  },
  {
    name: 'default host prefix of IPv6 that does not fit',
    edits: [networks({ ...IPV6, cluster: ['fd01::/32'] })],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
    says: /64 by default/,
  },
  {
    name: 'IPv6 host prefix larger than its network',
    edits: [networks({ ...IPV6, cluster: ["{cidr: 'fd01::/64', hostPrefix: 56}"] })],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
    says: /from 64 to 80/,
  },
  {
    name: 'IPv6 host prefix 127',
    edits: [networks({ ...IPV6, cluster: ["{cidr: 'fd01::/112', hostPrefix: 127}"] })],
    faults: ['16 networking.clusterNetwork[0].hostPrefix'],
  },
  {
    name: 'IPv6 networks that overlap',
    edits: [networks({ ...IPV6, service: ['fd01:0:0:5::/112'] })],
    faults: ['18 networking.serviceNetwork[0]'],
    says: /does not overlap networking\.clusterNetwork\[0\]\.cidr \(fd01::\/48\)/,
  },
  {
    name: 'an IPv6 machine network that overlaps a default',
    edits: [networks({ machine: ['fd01::/64'] })],
    faults: [MACHINE],
    says: /fd01::\/48, the default/,
  },
];

/** Accepted networks, with the resulting values. */
export const acceptedNetworks: readonly {
  name: string;
  given: Networks;
  machine: string[];
  cluster: [cidr: string, hostPrefix: number][];
  service: string[];
}[] = [
  {
    name: 'IPv6, with the defaults for it',
    given: { machine: ['fd00:7::/64'] },
    machine: ['fd00:7::/64'],
    cluster: [['fd01::/48', 64]],
    service: ['fd02::/112'],
  },
  {
    name: 'dual-stack, with the defaults in the order of the machine networks',
    given: { machine: ['fd00:7::/64', '192.168.7.0/24'] },
    machine: ['fd00:7::/64', '192.168.7.0/24'],
    cluster: [
      ['fd01::/48', 64],
      ['10.128.0.0/14', 23],
    ],
    service: ['fd02::/112', '172.30.0.0/16'],
  },
  {
    name: 'dual-stack, all given, in one spelling',
    given: {
      machine: ['192.168.7.0/24', '192.168.8.0/24', '2001:DB8:0::/64'],
      cluster: ['10.128.0.0/14', "{cidr: 'FD01:1::/56', hostPrefix: 72}"],
      service: ['172.30.0.0/16', 'FD02::/108'],
    },
    machine: ['192.168.7.0/24', '192.168.8.0/24', '2001:db8::/64'],
    cluster: [
      ['10.128.0.0/14', 23],
      ['fd01:1::/56', 72],
    ],
    service: ['172.30.0.0/16', 'fd02::/108'],
  },
];

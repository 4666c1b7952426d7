import { familyOf } from '../../lib/base/network/address.ts';

const ADAPTER = 'eth0';

/** What of the network of a site differs from a usual one. */
export interface NetworkOptions {
  readonly prefix?: number;
  readonly servers?: readonly string[];
  /** false: nothing beyond the network of the site is reached. Default: true. */
  readonly defaultRoute?: boolean;
  /** Properties of the adapter. */
  readonly adapter?: Readonly<Record<string, unknown>>;
  /** Other interfaces. */
  readonly interfaces?: readonly Readonly<Record<string, unknown>>[];
}

/** An address of the host in a network, and the gateway of that network. */
export interface StaticPlace {
  readonly address: string;
  readonly gateway: string;
}

/** An nmstate document: static addresses of these families and of no other; each gateway is a name server too. */
export function staticNetworks(places: readonly StaticPlace[]) {
  const withIpv4 = places.find(({ address }) => familyOf(address) === 'IPv4');
  const withIpv6 = places.find(({ address }) => familyOf(address) === 'IPv6');
  const addressed = (place: StaticPlace | undefined, prefix: number, more: object = {}) =>
    place === undefined
      ? { enabled: false }
      : {
          ...{ enabled: true, dhcp: false, ...more },
          address: [{ ip: place.address, 'prefix-length': prefix }],
        };
  const adapter = {
    ...{ name: ADAPTER, type: 'ethernet', state: 'up' },
    ipv4: addressed(withIpv4, 24),
    ipv6: addressed(withIpv6, 64, { autoconf: false }),
  };
  return {
    interfaces: [adapter],
    routes: {
      config: places.map(({ address, gateway }) => ({
        destination: familyOf(address) === 'IPv4' ? '0.0.0.0/0' : '::/0',
        'next-hop-address': gateway,
        'next-hop-interface': ADAPTER,
      })),
    },
    'dns-resolver': { config: { server: places.map(({ gateway }) => gateway) } },
  };
}

/** An nmstate document: a static address, whose gateway is the name server too. */
export const staticNetwork = (
  address: string,
  gateway: string,
  {
    prefix = 24,
    servers = [gateway],
    defaultRoute = true,
    adapter = {},
    interfaces = [],
  }: NetworkOptions = {},
) => ({
  interfaces: [
    {
      name: ADAPTER,
      type: 'ethernet',
      state: 'up',
      ipv4: {
        enabled: true,
        dhcp: false,
        address: [{ ip: address, 'prefix-length': prefix }],
      },
      ...adapter,
    },
    ...interfaces,
  ],
  routes: {
    config: defaultRoute
      ? [
          {
            destination: '0.0.0.0/0',
            'next-hop-address': gateway,
            'next-hop-interface': ADAPTER,
          },
        ]
      : [],
  },
  'dns-resolver': { config: { server: [...servers] } },
});

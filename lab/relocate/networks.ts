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

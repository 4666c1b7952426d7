import { familyOf } from '../lib/base/network/address.ts';
import { type HostIdentity, SEGMENTS } from './host/network.ts';

export const ADAPTER = 'eth0';

/** The nmstate document that configures statically what DHCP and router advertisements do elsewhere. */
export function networkConfigOf({ addresses }: HostIdentity) {
  const families = addresses.map((ip) => {
    const family = familyOf(ip);
    const { network, bridge } = SEGMENTS[family];
    return { family, ip, bridge, prefixLength: Number(network.split('/')[1]) };
  });
  const perFamily = families.map(({ family, ip, prefixLength }) => {
    const address = [{ ip, 'prefix-length': prefixLength }];
    return family === 'IPv4'
      ? { ipv4: { enabled: true, dhcp: false, address } }
      : { ipv6: { enabled: true, dhcp: false, autoconf: false, address } };
  });
  return {
    interfaces: [
      { name: ADAPTER, type: 'ethernet', state: 'up', ...Object.assign({}, ...perFamily) },
    ],
    routes: {
      config: families.map(({ family, bridge }) => ({
        destination: family === 'IPv4' ? '0.0.0.0/0' : '::/0',
        'next-hop-address': bridge,
        'next-hop-interface': ADAPTER,
      })),
    },
    'dns-resolver': { config: { server: families.map(({ bridge }) => bridge) } },
  };
}

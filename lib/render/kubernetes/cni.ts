import { familyOf } from '../../base/network/address.ts';
import type { KeylessInput, RenderedFile } from '../renderer.ts';
import { firstSubnet } from './addresses.ts';
import { publicFile } from './files.ts';

export const cniPath = '/etc/cni/net.d/10-sno.conflist';

const everything = { IPv4: '0.0.0.0/0', IPv6: '::/0' } as const;

/**
 * The pod network of a single node: a bridge with the subnets that are allocated to the node,
 * one of each family. Addresses are translated apart from it, by podEgressFile.
 */
export function cniFile({ cluster }: KeylessInput): RenderedFile {
  return cniFileFor(
    cluster.clusterNetwork.map(({ cidr, hostPrefix }) =>
      firstSubnet(cidr, hostPrefix, 'networking.clusterNetwork'),
    ),
  );
}

/** The same for the subnets (CIDR) of any node. */
export function cniFileFor(subnets: readonly string[]): RenderedFile {
  const list = {
    cniVersion: '1.0.0',
    name: 'sno',
    plugins: [
      {
        type: 'bridge',
        bridge: 'sno0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          // A pod gets an address of each set.
          ranges: subnets.map((subnet) => [{ subnet }]),
          routes: subnets.map((subnet) => ({ dst: everything[familyOf(subnet)] })),
          // A reboot ends every pod sandbox; its address must be free afterwards.
          dataDir: '/run/cni/ipam',
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  return publicFile(cniPath, `${JSON.stringify(list, undefined, 2)}\n`, {
    uses: ['node'],
  });
}

import type { RenderedFile, RenderInput } from '../renderer.ts';
import { firstSubnet } from './addresses.ts';
import { publicFile } from './files.ts';

/** The pod network of a single node: a bridge, with the subnet that the node is given. */
export function cniFile({ cluster }: RenderInput): RenderedFile {
  const network = cluster.clusterNetwork[0];
  const subnet = firstSubnet(
    network?.cidr ?? '',
    network?.hostPrefix ?? 24,
    'networking.clusterNetwork',
  );
  const list = {
    cniVersion: '1.0.0',
    name: 'sno',
    plugins: [
      {
        type: 'bridge',
        bridge: 'sno0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: [[{ subnet }]],
          routes: [{ dst: '0.0.0.0/0' }],
          // A reboot ends every pod sandbox; their addresses must not outlive them.
          dataDir: '/run/cni/ipam',
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
  return publicFile('/etc/cni/net.d/10-sno.conflist', `${JSON.stringify(list, undefined, 2)}\n`, {
    stage: 'installed',
  });
}

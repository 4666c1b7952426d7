import { familyOf } from '../../base/network/address.ts';
import type { Cluster } from '../../config/cluster/cluster.ts';
import type { RenderedFile } from '../renderer.ts';
import { publicFile } from './files.ts';

/** Read by kubelet.service. */
export const podEgressPath = '/etc/sno-agents/pod-egress.nft';

const FAMILIES = {
  IPv4: { word: 'ip', multicast: '224.0.0.0/4' },
  IPv6: { word: 'ip6', multicast: 'ff00::/8' },
} as const;

/**
 * Traffic of pods leaves the host under the host's address, since nothing outside has a route to pods,
 * unless it goes to other pods: those on other nodes see the pod's own address. The option `ipMasq` of
 * the bridge plugin knows only the subnet of its own node.
 */
export function podEgressFile({ clusterNetwork }: Pick<Cluster, 'clusterNetwork'>): RenderedFile {
  const rules = clusterNetwork.map(({ cidr }) => {
    const { word, multicast } = FAMILIES[familyOf(cidr)];
    return `    ${word} saddr ${cidr} ${word} daddr != { ${cidr}, ${multicast} } masquerade\n`;
  });
  // As one transaction, whether the table exists or not.
  const contents = `table inet sno-pods
delete table inet sno-pods
table inet sno-pods {
  chain egress {
    type nat hook postrouting priority srcnat;
${rules.join('')}  }
}
`;
  return publicFile(podEgressPath, contents, { uses: ['node'] });
}

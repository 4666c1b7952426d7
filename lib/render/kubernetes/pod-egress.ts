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
 * Where clouds answer everybody on a machine with its user data and the credentials of its role: most of them, AWS for
 * containers, Alibaba and Oracle; of Azure also the server of its agent, whose addresses answer questions of DNS too.
 */
const METADATA = {
  IPv4: [
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23'],
    ...['168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ],
  IPv6: ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe'],
} as const;

/**
 * Traffic of pods leaves the host under the host's address, since nothing outside has a route to pods,
 * unless it goes to other pods: those on other nodes see the pod's own address. The option `ipMasq` of
 * the bridge plugin knows only the subnet of its own node.
 *
 * Where the installation says so, pods do not reach the metadata service of a cloud. DNS and NTP, which some clouds have at
 * the same addresses, stay.
 */
export function podEgressFile({
  clusterNetwork,
  metadataFromPods,
}: Pick<Cluster, 'clusterNetwork' | 'metadataFromPods'>): RenderedFile {
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
${metadataFromPods === 'block' ? metadataChain(clusterNetwork) : ''}}
`;
  return publicFile(podEgressPath, contents, { uses: ['node'] });
}

/** Refused rather than dropped: whoever asks learns at once that nobody answers. */
function metadataChain(clusterNetwork: Cluster['clusterNetwork']): string {
  const rules = clusterNetwork.map(({ cidr }) => {
    const family = familyOf(cidr);
    const { word } = FAMILIES[family];
    const to = `${word} daddr { ${METADATA[family].join(', ')} }`;
    return `    ${word} saddr ${cidr} ${to} meta l4proto { tcp, udp } th dport != { 53, 123 } reject\n`;
  });
  return `  chain metadata {
    type filter hook forward priority filter;
${rules.join('')}  }
`;
}

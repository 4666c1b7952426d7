/** Read by dnsmasq, whose main file on OpenShift is that of the machine-config operator (templates/common/sno). */
const folder = '/etc/dnsmasq.d';

/** The names of the installation, by which the parts of the cluster know each other. */
export const nodeDnsPath = `${folder}/sno-node.conf`;
/** The names at the site. */
export const siteDnsPath = `${folder}/sno-site.conf`;

/** The name servers of the network in which the node is, as NetworkManager knows them. */
const UPSTREAM = '/run/NetworkManager/no-stub-resolv.conf';

/** Answers at the internal address only, which the node has before any network. */
export const nodeDns = (address: string, clusterDomain: string): string =>
  [
    '# Names of this node, at every site. Written by sno-agents.',
    `listen-address=${address}`,
    // The address may appear later than the program.
    'bind-dynamic',
    'no-hosts',
    `resolv-file=${UPSTREAM}`,
    ...addresses(address, clusterDomain),
    '',
  ].join('\n');

export const siteDns = (address: string, clusterDomain: string): string =>
  [
    '# Names of this node at its site. Written by sno-agents.',
    ...addresses(address, clusterDomain),
    '',
  ].join('\n');

/** A name means everything below it, too: `apps` is `*.apps`. `local`: other records of it are asked of nobody else. */
const addresses = (address: string, clusterDomain: string): string[] =>
  ['api', 'api-int', 'apps'].flatMap((name) => [
    `address=/${name}.${clusterDomain}/${address}`,
    `local=/${name}.${clusterDomain}/`,
  ]);

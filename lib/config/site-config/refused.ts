const OWN_IDENTITY = 'Remove it: the cluster keeps its own.';

/**
 * Fields of lifecycle-agent's SeedReconfiguration that do not exist here, and what to write instead. List
 * positions are `[]`.
 */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['cluster_id', OWN_IDENTITY],
  ['infra_id', OWN_IDENTITY],
  ['node_ip', 'Use nodeAddress: site, and machine_networks.'],
  ['node_ips', 'Use nodeAddress: site, and machine_networks.'],
  ['machine_network', 'Use machine_networks, a list.'],
  ['release_registry', 'Use imageDigestSources.'],
  ['server_ssh_keys', 'Remove it: the host keeps its own SSH host keys.'],
  ['chrony_config', 'Use additionalNTPSources.'],
  ['install_config', 'Remove it: each field that a site may change has one here.'],
  ['status_proxy', 'Remove it: proxy is completed by the host.'],
  [
    'KubeconfigCryptoRetention',
    'Remove it: sno create site-volume makes the authorities and auth/kubeconfig.',
  ],
  ['additionalTrustBundle.proxyConfigmapName', 'Use userCaBundle: the host trusts it for all.'],
  ['additionalTrustBundle.proxyConfigmapBundle', 'Use userCaBundle: the host trusts it for all.'],
  ['networkConfig', 'Use raw_nm_state_config.'],
  ['metadata', 'Use cluster_name.'],
  ['apiVersion', 'Write api_version: 1.'],
  ['kind', 'Remove it.'],
]);

/** What to do about such a field; undefined for any other. */
export const refusedField = (field: string): string | undefined => REFUSED.get(field);

/** All of them, for the reference. */
export const refusedFields = (): [field: string, instead: string][] => [...REFUSED];

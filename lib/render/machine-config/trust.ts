import type { Cluster } from '../../config/cluster/cluster.ts';
import type { SiteFile } from './site-files.ts';

/**
 * In the folder that `update-ca-trust` reads. CoreOS runs it at the first boot, before anything
 * that uses TLS (fedora-coreos-config, coreos-update-ca-trust.service). Ignition itself needs no
 * authority: its configuration includes everything, without downloads.
 */
export function trustFiles({
  additionalTrustBundle,
}: Pick<Cluster, 'additionalTrustBundle'>): SiteFile[] {
  if (additionalTrustBundle === undefined) return [];
  return [
    {
      path: '/etc/pki/ca-trust/source/anchors/sno-additional-trust-bundle.crt',
      mode: 0o644,
      contents: additionalTrustBundle,
    },
  ];
}

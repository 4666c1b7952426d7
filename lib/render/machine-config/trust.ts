import type { Cluster } from '../../cluster/cluster.ts';
import type { SiteFile } from './site-files.ts';

/**
 * Into the folder that `update-ca-trust` reads; CoreOS runs that at its first boot, before anything
 * that speaks TLS (fedora-coreos-config, coreos-update-ca-trust.service). Ignition itself needs
 * no authority: what it is given comes without any download.
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

import { containerdHosts } from '../../lib/render/machine-config/containerd-hosts.ts';
import type { SiteSettings } from '../install-config/site-settings.ts';
import { certificatesOf } from '../install-config/trust-bundle.ts';

/** What is right in what a site gives, but may not be what was meant. */
export function siteNotices(site: SiteSettings, now = new Date()): string[] {
  const { cluster, expectedAdapters, bundleWithoutProxy, savePartitions } = site;
  const expired = certificatesOf(cluster.additionalTrustBundle ?? '').filter(
    ({ validTo }) => new Date(validTo) < now,
  );
  const saved = [...savePartitions.labels, ...savePartitions.indexes];
  return [
    ...(bundleWithoutProxy
      ? ['additionalTrustBundle is trusted although the policy is Proxyonly and there is no proxy']
      : []),
    ...expired.map(({ subject, validTo }) => {
      const name = subject.replaceAll('\n', ', ');
      return `the certificate ${name} of additionalTrustBundle ended on ${validTo}`;
    }),
    ...containerdHosts(cluster.imageMirrors).notices,
    ...(expectedAdapters.length === 0
      ? []
      : [`networkConfig expects these adapters on the host: ${expectedAdapters.join(', ')}`]),
    ...(saved.length === 0 ? [] : [`partitions kept on the disk: ${saved.join(', ')}`]),
  ];
}

import { containerdHosts } from '../../lib/render/machine-config/containerd-hosts.ts';
import { certificatesOf } from '../../lib/site/trust-bundle.ts';
import { printable } from '../install-config/fault.ts';
import type { InstallSettings } from '../install-config/translate.ts';

/** What is valid in install-config.yaml, but may not be what was intended. */
export function configNotices(settings: InstallSettings, now = new Date()): string[] {
  const { cluster, networkType } = settings;
  const { installation, hostname, preflightWarnings, sshKeys } = cluster;
  const { disk, existingSystem } = installation;
  const notices: string[] = [];
  if (networkType !== undefined) {
    notices.push(`networkType ${networkType} is ignored: the payload includes its own network`);
  }
  if (hostname === undefined) {
    notices.push("no hostname: the node gets the live host's name, which DHCP or DNS must provide");
  }
  if (!/^\/dev\/(disk|mapper)\//.test(disk)) {
    notices.push(`${disk} can be another disk at the next boot; /dev/disk/by-id/... cannot`);
  }
  if (existingSystem === 'overwrite') {
    notices.push(`existingSystem is overwrite: another system on ${disk} will be destroyed`);
  }
  if (preflightWarnings.length > 0) {
    notices.push(`only warnings on the live host: ${preflightWarnings.join(', ')}`);
  }
  notices.push(...siteNotices(settings, now));
  if (sshKeys.length === 0) notices.push('no sshKey: SSH login to the live host is impossible');
  return notices.map(printable);
}

function siteNotices(settings: InstallSettings, now: Date): string[] {
  const { cluster, expectedAdapters, bundleWithoutProxy } = settings;
  const { labels, indexes } = cluster.installation.savePartitions;
  const expired = certificatesOf(cluster.additionalTrustBundle ?? '').filter(
    ({ validTo }) => new Date(validTo) < now,
  );
  const saved = [...labels, ...indexes];
  return [
    ...(bundleWithoutProxy
      ? ['additionalTrustBundle is trusted although the policy is Proxyonly and there is no proxy']
      : []),
    ...expired.map(({ subject, validTo }) => {
      const name = subject.replaceAll('\n', ', ');
      return `the certificate ${name} of additionalTrustBundle expired on ${validTo}`;
    }),
    ...containerdHosts(cluster.imageMirrors).notices,
    ...(expectedAdapters.length === 0
      ? []
      : [`networkConfig expects these adapters on the host: ${expectedAdapters.join(', ')}`]),
    ...(saved.length === 0 ? [] : [`partitions kept on the disk: ${saved.join(', ')}`]),
  ];
}

import { printable } from '../../lib/base/printable.ts';
import { repeatedNameNotices } from '../../lib/config/site/names.ts';
import { networkNotices } from '../../lib/config/site/nmstate/notices.ts';
import { bundleNotices } from '../../lib/config/site/trust-bundle.ts';
import { containerdHosts } from '../../lib/render/machine-config/containerd-hosts.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import type { InstallSettings } from '../install-config/translate.ts';

/**
 * What is valid in install-config.yaml of an all-in-one host, but may not be what was
 * intended. Whoever writes the disk decides how: fields about that are ignored.
 */
export function aioNotices(settings: InstallSettings, now = new Date()): string[] {
  const { hostname, preflightWarnings, sshKeys, installation } = settings.cluster;
  const { disk, existingSystem, kernelArguments, savePartitions, coreosInstallerArgs } =
    installation;
  const ignored = Object.entries({
    installationDisk: disk !== '',
    existingSystem: existingSystem !== 'refuse',
    kernelArguments: kernelArguments.length > 0,
    savePartitions: savePartitions.labels.length + savePartitions.indexes.length > 0,
  }).flatMap(([name, isGiven]) => (isGiven ? [`bootstrapInPlace.${name}`] : []));
  const all = [...ignored, ...(coreosInstallerArgs.length > 0 ? [DISK_VARIABLE] : [])];
  return [
    ...(all.length === 0
      ? []
      : [`ignored: ${all.join(', ')}. An all-in-one host runs from the disk that it boots from`]),
    ...networkTypeNotices(settings),
    ...(hostname === undefined
      ? ['no hostname: the node gets the name that DHCP or DNS provides at the first boot']
      : []),
    ...(preflightWarnings.length === 0
      ? []
      : [`only warnings on the host: ${preflightWarnings.join(', ')}`]),
    ...siteNotices(settings, now),
    ...(sshKeys.length === 0 ? ['no sshKey: SSH login to the host is impossible'] : []),
  ].map(printable);
}

function networkTypeNotices({ networkType }: InstallSettings): string[] {
  if (networkType === undefined) return [];
  return [`networkType ${networkType} is ignored: the payload includes its own network`];
}

/** What is valid in install-config.yaml, but may not be what was intended. */
export function configNotices(settings: InstallSettings, now = new Date()): string[] {
  const { installation, hostname, preflightWarnings, sshKeys } = settings.cluster;
  const { disk, existingSystem, savePartitions } = installation;
  const saved = [...savePartitions.labels, ...savePartitions.indexes];
  const notices = networkTypeNotices(settings);
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
  if (saved.length > 0) notices.push(`partitions kept on the disk: ${saved.join(', ')}`);
  if (sshKeys.length === 0) notices.push('no sshKey: SSH login to the live host is impossible');
  return notices.map(printable);
}

function siteNotices(settings: InstallSettings, now: Date): string[] {
  const { cluster, expectedAdapters, bundleWithoutProxy } = settings;
  return [
    ...repeatedNameNotices(cluster.name, cluster.baseDomain),
    ...(bundleWithoutProxy
      ? ['additionalTrustBundle is trusted although the policy is Proxyonly and there is no proxy']
      : []),
    ...bundleNotices(cluster.additionalTrustBundle, now),
    ...containerdHosts(cluster.imageMirrors).notices,
    ...(expectedAdapters.length === 0
      ? []
      : [`networkConfig expects these adapters on the host: ${expectedAdapters.join(', ')}`]),
    ...networkNotices(cluster.networkConfig),
  ];
}

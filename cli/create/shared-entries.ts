import { noProxyOf } from '../../lib/base/network/proxy-for.ts';
import { backupToPath } from '../../lib/change/backup/push/read-backup-to.ts';
import { deferredFolder } from '../../lib/cluster/deferred/manifests.ts';
import { dhcpIdentity } from '../../lib/cluster/installation/dhcp-identity.ts';
import { type FutureToken, futureTokenPath } from '../../lib/cluster/workers/future-token.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { reportToPath } from '../../lib/engine/report/read-report-to.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { Directory, File, User } from '../../lib/render/ignition/config.ts';
import { dataUrl } from '../../lib/render/ignition/data-url.ts';
import { directory, user } from '../../lib/render/ignition/entries.ts';
import type { LaptopAuthorities } from '../../lib/render/renderer.ts';
import { messageCatalog } from '../../units/message-catalog.ts';
import type { UserManifest } from './user-manifests.ts';

/** What the Ignition configs of all hosts are made from. */
export interface SharedInput {
  cluster: Cluster;
  /** JSON, as container tools store it. */
  pullSecret: string;
  manifests: readonly UserManifest[];
  /** Manifests that the installed host applies once their kinds are served, by file name. */
  deferred: readonly { name: string; contents: string }[];
  /** report-to.json: to whom the host reports, live and installed. It may have a key or a token. */
  reportTo?: string | undefined;
  /** backup-to.json: where the installed host stores its backups. It may have a key or a token. */
  backupTo?: string | undefined;
  /** Where the executable is fetched, if no medium has it. */
  executableUrl?: string;
}

/** The same for a control plane whose authorities `sno create` makes. */
export interface IgnitionInput extends SharedInput {
  authorities: LaptopAuthorities;
  /** Of the workers of the installation, if there are any. */
  workerToken?: FutureToken | undefined;
}

/** A file of the config, compressed or not. */
export type PlaceFile = (path: string, mode: number, contents: string | Uint8Array) => File;

/** The folders of the assets of a host that sets up a control plane. */
export function assetDirectories(): Directory[] {
  const { assets, assetsManifests, assetsTls } = hostPaths();
  return [
    directory(assets, 0o755),
    directory(assetsManifests, 0o755),
    directory(`${assets}/openshift`, 0o755),
    directory(assetsTls, 0o700),
  ];
}

/** The files of a host that sets up a control plane. */
export function sharedFiles(input: SharedInput, place: PlaceFile): File[] {
  const paths = hostPaths();
  const { manifests, deferred, reportTo, backupTo } = input;
  return [
    ...hostFiles(input, place),
    ...(reportTo === undefined ? [] : [place(reportToPath(paths), 0o600, reportTo)]),
    ...(backupTo === undefined ? [] : [place(backupToPath(paths), 0o600, backupTo)]),
    // A manifest can be a Secret.
    ...manifests.map(({ path, contents }) => place(`${paths.assets}/${path}`, 0o600, contents)),
    ...deferred.map(({ name, contents }) =>
      place(`${deferredFolder(paths)}/${name}`, 0o600, contents),
    ),
  ];
}

/** The files that every host has, also one without a control plane. */
export function hostFiles(
  {
    cluster,
    executableUrl,
    pullSecret,
  }: Pick<SharedInput, 'cluster' | 'executableUrl' | 'pullSecret'>,
  place: PlaceFile,
): File[] {
  const paths = hostPaths();
  return [
    place(`${paths.config}/cluster.json`, 0o600, clusterText(cluster)),
    place(
      `${paths.config}/executable.sha256`,
      0o644,
      checksum(cluster.executableSha256, paths.executable),
    ),
    ...(executableUrl === undefined
      ? []
      : [place(executableByUrlPath(), 0o644, curlConfig(executableUrl, cluster.proxy))]),
    place(messageCatalog.path, 0o644, messageCatalog.contents),
    place(dhcpIdentity.path, 0o644, dhcpIdentity.contents),
    place(`${paths.kubelet}/config.json`, 0o600, pullSecret),
    ...(cluster.hostname === undefined
      ? []
      : [place('/etc/hostname', 0o644, `${cluster.hostname}\n`)]),
  ];
}

/** The host renders the control plane from them, and deletes them here. */
export function authorityFiles(
  {
    authorities: { servingCa, adminCa },
    workerToken,
  }: Pick<IgnitionInput, 'authorities' | 'workerToken'>,
  place: PlaceFile,
): readonly File[] {
  const { assetsTls } = hostPaths();
  return [
    ...(workerToken === undefined
      ? []
      : [place(futureTokenPath({ assetsTls }), 0o600, JSON.stringify(workerToken))]),
    place(`${assetsTls}/kube-apiserver-serving-ca.crt`, 0o644, servingCa.certificate),
    place(`${assetsTls}/kube-apiserver-serving-ca.key`, 0o600, servingCa.key),
    place(`${assetsTls}/admin-ca.crt`, 0o644, adminCa.certificate),
  ];
}

/** The user core with the site's SSH keys, if there are any. */
export const coreUser = ({ sshKeys }: Pick<Cluster, 'sshKeys'>): User[] =>
  sshKeys.length === 0 ? [] : [user('core', { sshAuthorizedKeys: sshKeys, groups: ['sudo'] })];

/** A line in sha256sum's format. */
export const checksum = (sha256: string, path: string) => `${sha256}  ${path}\n`;

const clusterText = (cluster: Cluster) => `${JSON.stringify(cluster, null, 2)}\n`;

/** Contents of cluster.json, as the config of a live host has them. */
export const clusterContents = (cluster: Cluster) => dataUrl(clusterText(cluster), { gzip: false });

/** curl's config file, which sno-executable.service uses if the executable is fetched. */
export const executableByUrlPath = () => `${hostPaths().config}/executable.curl`;

/**
 * In a file, because a URL in a unit would have to be escaped for systemd. Never
 * downgrades from https to http. Exempt from the proxy by its host, since curl knows no networks before 7.86.
 */
export function curlConfig(url: string, proxy: Cluster['proxy']): string {
  const redirects = url.startsWith('https:') ? '=https' : '=http,https';
  const exempt =
    proxy === undefined ? '' : `noproxy = "${noProxyOf(url, proxy.noProxy).join(',')}"\n`;
  return `url = "${url}"\nproto-redir = "${redirects}"\n${exempt}`;
}

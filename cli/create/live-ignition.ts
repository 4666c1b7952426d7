import { agentLinks, commandLinks } from '../../lib/agents/links.ts';
import { agentsOf } from '../../lib/agents/table.ts';
import type { Cluster } from '../../lib/cluster/cluster.ts';
import { issueLink } from '../../lib/console/publish-issue.ts';
import { deferredFolder } from '../../lib/deferred/manifests.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { Config, File } from '../../lib/ignition/config.ts';
import { dataUrl } from '../../lib/ignition/data-url.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  user,
  withDropins,
} from '../../lib/ignition/entries.ts';
import { dhcpIdentity } from '../../lib/installation/dhcp-identity.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import type { LaptopAuthorities } from '../../lib/render/renderer.ts';
import { gatherLinks } from '../../units/gather.ts';
import { networkUnit } from '../../units/live.ts';
import { messageCatalog } from '../../units/message-catalog.ts';
import type { UnitFile } from '../../units/unit-file.ts';
import type { UserManifest } from './user-manifests.ts';

export interface LiveIgnitionInput {
  cluster: Cluster;
  authorities: LaptopAuthorities;
  /** JSON, as container tools store it. */
  pullSecret: string;
  manifests: readonly UserManifest[];
  /** Manifests that the installed host applies once their kinds are served, by file name. */
  deferred: readonly { name: string; contents: string }[];
  units: readonly UnitFile[];
  /** Where the executable is fetched, if no medium has it. */
  executableUrl?: string;
}

/** cluster.json, as text. */
export const clusterText = (cluster: Cluster) => `${JSON.stringify(cluster, null, 2)}\n`;

/** Contents of cluster.json, as a config has them. */
export const clusterContents = (cluster: Cluster) => dataUrl(clusterText(cluster), { gzip: false });

/** curl's config file, which sno-executable.service uses if the executable is fetched. */
export const executableByUrlPath = () => `${hostPaths().config}/executable.curl`;

/**
 * The Ignition config that a live image boots with. The same input gives the same
 * config. Contents stay uncompressed: the embed area is compressed as a whole.
 */
export function liveIgnition(input: LiveIgnitionInput): Config {
  const { cluster, authorities, pullSecret, manifests, deferred, units, executableUrl } = input;
  const paths = hostPaths();
  const plain = (path: string, mode: number, contents: string | Uint8Array): File =>
    file(path, mode, contents, { gzip: false });
  const { servingCa, adminCa } = authorities;
  const site = machineConfig(cluster, 'live');
  const network = cluster.networkConfig === undefined ? [] : [networkUnit];
  const hostname =
    cluster.hostname === undefined ? [] : [plain('/etc/hostname', 0o644, `${cluster.hostname}\n`)];
  return configOf({
    directories: [
      directory(paths.assets, 0o755),
      directory(paths.assetsManifests, 0o755),
      directory(`${paths.assets}/openshift`, 0o755),
      directory(paths.assetsTls, 0o700),
      directory('/root/.docker', 0o700),
      ...(deferred.length === 0 ? [] : [directory(deferredFolder(paths), 0o700)]),
      directory(paths.kubelet, 0o750),
      // The units' sandboxes open these, so they must exist.
      directory(paths.staticPods, 0o700),
      directory('/etc/cni/net.d', 0o755),
    ],
    files: [
      plain(`${paths.config}/cluster.json`, 0o600, clusterText(cluster)),
      plain(`${paths.assetsTls}/kube-apiserver-serving-ca.crt`, 0o644, servingCa.certificate),
      plain(`${paths.assetsTls}/kube-apiserver-serving-ca.key`, 0o600, servingCa.key),
      plain(`${paths.assetsTls}/admin-ca.crt`, 0o644, adminCa.certificate),
      plain(`${paths.assetsTls}/admin-ca.key`, 0o600, adminCa.key),
      plain(
        `${paths.config}/executable.sha256`,
        0o644,
        `${cluster.executableSha256}  ${paths.executable}\n`,
      ),
      ...(executableUrl === undefined
        ? []
        : [plain(executableByUrlPath(), 0o644, curlConfig(executableUrl))]),
      plain(messageCatalog.path, 0o644, messageCatalog.contents),
      plain(dhcpIdentity.path, 0o644, dhcpIdentity.contents),
      plain('/root/.docker/config.json', 0o600, pullSecret),
      plain(`${paths.kubelet}/config.json`, 0o600, pullSecret),
      ...hostname,
      ...site.files.map(({ path, mode, contents }) => plain(path, mode, contents)),
      // A manifest can be a Secret.
      ...manifests.map(({ path, contents }) => plain(`${paths.assets}/${path}`, 0o600, contents)),
      ...deferred.map(({ name, contents }) =>
        plain(`${deferredFolder(paths)}/${name}`, 0o600, contents),
      ),
    ],
    links: [
      ...agentLinks(agentsOf('live')),
      ...commandLinks(['sno-agents']),
      ...gatherLinks,
      issueLink,
    ].map(({ path, target }) => link(path, target)),
    units: withDropins(
      [...units, ...network].map(({ name, contents, enabled }) =>
        unit(name, { contents, enabled }),
      ),
      site.dropins,
    ),
    users:
      cluster.sshKeys.length === 0
        ? []
        : [user('core', { sshAuthorizedKeys: cluster.sshKeys, groups: ['sudo'] })],
  });
}

/**
 * In a file, because a URL in a unit would have to be escaped for systemd. Never
 * downgrades from https to http.
 */
export function curlConfig(url: string): string {
  const redirects = url.startsWith('https:') ? '=https' : '=http,https';
  return `url = "${url}"\nproto-redir = "${redirects}"\n`;
}

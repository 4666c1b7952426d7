import { agentLinks, commandLinks } from '../../lib/agents/links.ts';
import { agentsOf } from '../../lib/agents/table.ts';
import type { Cluster } from '../../lib/cluster/cluster.ts';
import { issueLink } from '../../lib/console/publish-issue.ts';
import { deferredFolder } from '../../lib/deferred/manifests.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { Config } from '../../lib/ignition/config.ts';
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
import { payloadFile } from '../../lib/payload/payload.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import { aioUnits } from '../../units/aio.ts';
import { gatherLinks } from '../../units/gather.ts';
import { deferredUnit } from '../../units/installed.ts';
import { networkUnit } from '../../units/live.ts';
import { messageCatalog } from '../../units/message-catalog.ts';
import {
  clusterText,
  curlConfig,
  executableByUrlPath,
  type LiveIgnitionInput,
} from './live-ignition.ts';

export interface AioIgnitionInput extends Omit<LiveIgnitionInput, 'cluster' | 'units'> {
  /** Without a disk to write, and with the digest of the payload. */
  cluster: Omit<Cluster, 'installation'> & { readonly payloadSha256: string };
}

/**
 * The Ignition config of an all-in-one host: the first boot of the disk that it runs from. The
 * executable and the payload are not in it, but their digests are. The same input gives the same
 * config.
 */
export function aioIgnitionConfig(input: AioIgnitionInput): Config {
  const { cluster, manifests, deferred, executableUrl } = input;
  const paths = hostPaths();
  const site = machineConfig(cluster, 'aio');
  const hasDeferred = deferred.length > 0;
  const units = [
    ...aioUnits(executableUrl === undefined ? 'medium' : 'url'),
    ...(cluster.networkConfig === undefined ? [] : [networkUnit]),
    ...(hasDeferred ? [deferredUnit] : []),
  ];
  return configOf({
    directories: [
      directory(paths.assets, 0o755),
      directory(paths.assetsManifests, 0o755),
      directory(`${paths.assets}/openshift`, 0o755),
      directory(paths.assetsTls, 0o700),
      // With the renderer's modes: Ignition would create parents with 0755.
      directory(paths.config, 0o700),
      directory(paths.kubelet, 0o700),
      ...(hasDeferred ? [directory(deferredFolder(paths), 0o700)] : []),
    ],
    files: [
      ...authorityFiles(input.authorities),
      ...descriptionFiles(input),
      file(messageCatalog.path, 0o644, messageCatalog.contents),
      file(dhcpIdentity.path, 0o644, dhcpIdentity.contents),
      file(`${paths.kubelet}/config.json`, 0o600, input.pullSecret),
      ...site.files.map(({ path, mode, contents }) => file(path, mode, contents)),
      // A manifest can be a Secret.
      ...manifests.map(({ path, contents }) => file(`${paths.assets}/${path}`, 0o600, contents)),
      ...deferred.map(({ name, contents }) =>
        file(`${deferredFolder(paths)}/${name}`, 0o600, contents),
      ),
    ],
    links: [
      ...agentLinks([
        ...agentsOf('aio'),
        ...agentsOf('node'),
        ...(hasDeferred ? agentsOf('deferred') : []),
      ]),
      ...commandLinks(['sno-agents']),
      ...gatherLinks,
      issueLink,
    ].map(({ path, target }) => link(path, target)),
    units: withDropins(
      units.map(({ name, contents, enabled }) => unit(name, { contents, enabled })),
      site.dropins,
    ),
    users:
      cluster.sshKeys.length === 0
        ? []
        : [user('core', { sshAuthorizedKeys: cluster.sshKeys, groups: ['sudo'] })],
  });
}

/** With their keys: aiokube renders the control plane from them, and deletes them here. */
function authorityFiles({ servingCa, adminCa }: AioIgnitionInput['authorities']) {
  const { assetsTls } = hostPaths();
  return [
    file(`${assetsTls}/kube-apiserver-serving-ca.crt`, 0o644, servingCa.certificate),
    file(`${assetsTls}/kube-apiserver-serving-ca.key`, 0o600, servingCa.key),
    file(`${assetsTls}/admin-ca.crt`, 0o644, adminCa.certificate),
    file(`${assetsTls}/admin-ca.key`, 0o600, adminCa.key),
  ];
}

/** What the units and agents read: the cluster, and digests in sha256sum's format. */
function descriptionFiles({ cluster, executableUrl }: AioIgnitionInput) {
  const { config, executable, binaries, payload } = hostPaths();
  const digest = (name: string, sha256: string, path: string) =>
    file(`${config}/${name}`, 0o644, `${sha256}  ${path}\n`);
  const { executableSha256, payloadSha256, hostname } = cluster;
  return [
    file(`${config}/cluster.json`, 0o600, clusterText(cluster)),
    file(`${config}/cluster-id`, 0o644, cluster.clusterId),
    digest('executable.sha256', executableSha256, executable),
    // The name under which it is verified before it is placed.
    digest('executable-part.sha256', executableSha256, `${binaries}/.sno-agents.part`),
    digest('payload.sha256', payloadSha256, `${payload}/${payloadFile}`),
    ...(executableUrl === undefined
      ? []
      : [file(executableByUrlPath(), 0o644, curlConfig(executableUrl))]),
    ...(hostname === undefined ? [] : [file('/etc/hostname', 0o644, `${hostname}\n`)]),
  ];
}

import { deferredFolder } from '../../lib/cluster/deferred/manifests.ts';
import { agentLinks, commandLinks } from '../../lib/engine/agents/links.ts';
import { agentsOf } from '../../lib/engine/agents/table.ts';
import { issueLink } from '../../lib/engine/console/publish-issue.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { Directory, IgnitionConfig, Link } from '../../lib/render/ignition/config.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  withDropins,
} from '../../lib/render/ignition/entries.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import { gatherLinks } from '../../units/gather.ts';
import { liveDropins, networkUnit } from '../../units/live.ts';
import { reportLinks } from '../../units/report.ts';
import type { UnitFile } from '../../units/unit-file.ts';
import {
  assetDirectories,
  authorityFiles,
  coreUser,
  type IgnitionInput,
  type PlaceFile,
  sharedFiles,
} from './shared-entries.ts';

export interface LiveIgnitionInput extends IgnitionInput {
  units: readonly UnitFile[];
}

/** Uncompressed: the embed area is compressed as a whole. */
export const plain: PlaceFile = (path, mode, contents) =>
  file(path, mode, contents, { gzip: false });

/** The folders of every live host. */
export function liveDirectories(): Directory[] {
  const { kubelet, staticPods } = hostPaths();
  return [
    ...assetDirectories(),
    directory('/root/.docker', 0o700),
    directory(kubelet, 0o750),
    // The units' sandboxes open these, so they must exist.
    directory(staticPods, 0o700),
    directory('/etc/cni/net.d', 0o755),
  ];
}

/** The agents as commands, and their login prompt. */
export const liveLinks = (): Link[] =>
  [
    ...agentLinks(agentsOf('live')),
    ...commandLinks(['sno-agents']),
    ...gatherLinks,
    ...reportLinks,
    issueLink,
  ].map(({ path, target }) => link(path, target));

/**
 * The Ignition config that a live image boots with. The same input gives the same
 * config.
 */
export function liveIgnition(input: LiveIgnitionInput): IgnitionConfig {
  const { cluster, pullSecret, deferred, units } = input;
  const paths = hostPaths();
  const site = machineConfig(cluster, 'live');
  const network = cluster.networkConfig === undefined ? [] : [networkUnit];
  return configOf({
    directories: [
      ...liveDirectories(),
      ...(deferred.length === 0 ? [] : [directory(deferredFolder(paths), 0o700)]),
    ],
    files: [
      ...authorityFiles(input, plain),
      ...sharedFiles(input, plain),
      plain('/root/.docker/config.json', 0o600, pullSecret),
      ...site.files.map(({ path, mode, contents }) => plain(path, mode, contents)),
    ],
    links: liveLinks(),
    units: withDropins(
      [...units, ...network].map(({ name, contents, enabled }) =>
        unit(name, { contents, enabled }),
      ),
      [...site.dropins, ...liveDropins],
    ),
    users: coreUser(cluster),
  });
}

import { addressEvents } from '../../lib/change/identity/address-events.ts';
import { lostHostPlaces, lostHostText } from '../../lib/change/identity/lost-host.ts';
import { deferredFolder } from '../../lib/cluster/deferred/manifests.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { hostCommandNames } from '../../lib/engine/agents/commands.ts';
import { agentLinks, commandLinks } from '../../lib/engine/agents/links.ts';
import { agentsOf } from '../../lib/engine/agents/table.ts';
import { issueLink } from '../../lib/engine/console/publish-issue.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { payloadFile } from '../../lib/payload/payload.ts';
import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import {
  configOf,
  directory,
  file,
  link,
  unit,
  withDropins,
} from '../../lib/render/ignition/entries.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import { aioUnits } from '../../units/aio.ts';
import { gatherLinks } from '../../units/gather.ts';
import { deferredUnit } from '../../units/installed.ts';
import { networkUnit } from '../../units/live.ts';
import { reportLinks } from '../../units/report.ts';
import {
  assetDirectories,
  authorityFiles,
  checksum,
  coreUser,
  type IgnitionInput,
  sharedFiles,
} from './shared-entries.ts';

export interface AioIgnitionInput extends Omit<IgnitionInput, 'cluster'> {
  /** Without a disk to write, and with the digest of the payload. */
  cluster: Omit<Cluster, 'installation'> & { readonly payloadSha256: string };
  /** The host continues the cluster of a lost one. */
  lostHost?: LostHostInput;
}

export interface LostHostInput {
  /** Its portable backup in the clear. */
  readonly archive: Uint8Array;
  readonly keepsAuthorities: boolean;
  /** Its settings.json, if it had one. */
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The Ignition config of an all-in-one host: the first boot of the disk that it runs from. The
 * executable and the payload are not in it, but their digests are. The same input gives the same
 * config.
 */
export function aioIgnitionConfig(input: AioIgnitionInput): IgnitionConfig {
  const { cluster, deferred, executableUrl } = input;
  const paths = hostPaths();
  const site = machineConfig(cluster, 'aio');
  const hasDeferred = deferred.length > 0;
  const units = [
    ...aioUnits(executableUrl === undefined ? 'medium' : 'url', {
      isSealed: cluster.sealSecrets !== undefined,
    }),
    ...(cluster.networkConfig === undefined ? [] : [networkUnit]),
    ...(hasDeferred ? [deferredUnit] : []),
  ];
  return configOf({
    directories: [
      ...assetDirectories(),
      // With the renderer's modes: Ignition would create parents with 0755.
      directory(paths.config, 0o700),
      directory(paths.kubelet, 0o700),
      ...(hasDeferred ? [directory(deferredFolder(paths), 0o700)] : []),
      ...(input.lostHost === undefined ? [] : [directory(lostHostPlaces(paths).folder, 0o700)]),
    ],
    files: [
      ...authorityFiles(input, file),
      ...sharedFiles(input, file),
      file(`${paths.config}/cluster-id`, 0o644, cluster.clusterId),
      ...digestFiles(cluster),
      ...(input.lostHost === undefined ? [] : lostHostFiles(input.lostHost)),
      file(addressEvents.path, addressEvents.mode, addressEvents.contents),
      ...site.files.map(({ path, mode, contents }) => file(path, mode, contents)),
    ],
    links: [
      ...agentLinks([
        ...agentsOf('aio'),
        ...agentsOf('node'),
        ...(cluster.sealSecrets === undefined ? [] : agentsOf('sealed')),
        ...(hasDeferred ? agentsOf('deferred') : []),
      ]),
      ...commandLinks(['sno-agents', ...hostCommandNames]),
      ...gatherLinks,
      ...reportLinks,
      issueLink,
    ].map(({ path, target }) => link(path, target)),
    units: withDropins(
      units.map(({ name, contents, enabled }) => unit(name, { contents, enabled })),
      site.dropins,
    ),
    users: coreUser(cluster),
  });
}

function lostHostFiles({ archive, keepsAuthorities, settings }: LostHostInput) {
  const paths = hostPaths();
  const { request, backup } = lostHostPlaces(paths);
  return [
    file(request, 0o600, lostHostText({ keepsAuthorities })),
    file(backup, 0o600, archive),
    ...(settings === undefined
      ? []
      : [file(`${paths.config}/settings.json`, 0o600, `${JSON.stringify(settings)}\n`)]),
  ];
}

/** What only a host that boots from its disk verifies. */
export function digestFiles({
  executableSha256,
  payloadSha256,
}: Pick<AioIgnitionInput['cluster'], 'executableSha256' | 'payloadSha256'>) {
  const { config, binaries, payload } = hostPaths();
  return [
    // The name under which the executable is verified before it is placed.
    file(
      `${config}/executable-part.sha256`,
      0o644,
      checksum(executableSha256, `${binaries}/.sno-agents.part`),
    ),
    file(`${config}/payload.sha256`, 0o644, checksum(payloadSha256, `${payload}/${payloadFile}`)),
  ];
}

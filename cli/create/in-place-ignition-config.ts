import { dhcpIdentity } from '../../lib/cluster/installation/dhcp-identity.ts';
import type { InPlaceConfig } from '../../lib/cluster/installation/in-place/config.ts';
import { inPlacePlaces } from '../../lib/cluster/installation/in-place/places.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { agentLinks, commandLinks } from '../../lib/engine/agents/links.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import type { IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { dataUrl } from '../../lib/render/ignition/data-url.ts';
import {
  BASE_SPEC,
  configOf,
  directory,
  link,
  unit,
  withDropins,
} from '../../lib/render/ignition/entries.ts';
import { machineConfig } from '../../lib/render/machine-config/machine-config.ts';
import { inPlaceUnits } from '../../units/in-place.ts';
import { liveUnits } from '../../units/live.ts';
import type { UnitFile } from '../../units/unit-file.ts';
import { digestFiles } from './aio-ignition-config.ts';
import { plain } from './live-ignition.ts';
import { checksum, coreUser, curlConfig, executableByUrlPath } from './shared-entries.ts';

/** What the user data of a host is made from. */
export interface InPlaceInput {
  readonly cluster: Omit<Cluster, 'installation'> & { readonly payloadSha256: string };
  /** Default: executable, payload and bundle are on a medium. */
  readonly executableUrl: string | undefined;
  readonly bundle: InPlaceConfig['bundle'];
}

/** They collect logs in a folder of their own, by default below /var. */
const COLLECTING = ['bootkube.service', 'sno-gather.service'];

/** Of the live host's: those that the user data does not have. */
export const bundleUnits: readonly UnitFile[] = liveUnits
  .filter(({ name }) => !['sno-executable.service', 'sno-label.service'].includes(name))
  .map((unit) =>
    COLLECTING.includes(unit.name) ? { ...unit, ...collectingInMemory(unit) } : unit,
  );

function collectingInMemory({ contents }: UnitFile): Pick<UnitFile, 'contents'> {
  return {
    contents: contents.replace(/^\[Service\]\n/m, '[Service]\nEnvironment=TMPDIR=/run\n'),
  };
}

/**
 * The Ignition config of the first boot of a host that bootstraps on its own disk: what it needs to reach the bundle and
 * to open it. The site configuration is in effect from the start, and stays.
 */
export function inPlaceIgnition({ cluster, executableUrl, bundle }: InPlaceInput): IgnitionConfig {
  const paths = hostPaths();
  const places = inPlacePlaces(paths);
  const { executableSha256, hostname, proxy } = cluster;
  const digest = checksum(executableSha256, paths.executable);
  const [part] = digestFiles(cluster);
  return configOf({
    directories: [directory(paths.config, 0o700), directory(places.folder, 0o700)],
    files: [
      plain(places.config, 0o600, JSON.stringify(configOfHost(cluster, bundle))),
      plain(places.executable, 0o644, digest),
      plain(`${paths.config}/executable.sha256`, 0o644, digest),
      ...(part === undefined ? [] : [part]),
      ...(executableUrl === undefined
        ? []
        : [plain(executableByUrlPath(), 0o644, curlConfig(executableUrl, proxy))]),
      plain(dhcpIdentity.path, 0o644, dhcpIdentity.contents),
      ...(hostname === undefined ? [] : [plain('/etc/hostname', 0o644, `${hostname}\n`)]),
      ...machineConfig(cluster, 'live').files.map(({ path, mode, contents }) =>
        plain(path, mode, contents),
      ),
    ],
    links: [...agentLinks(['sno-in-place']), ...commandLinks(['sno-agents'])].map(
      ({ path, target }) => link(path, target),
    ),
    units: withDropins(
      inPlaceUnits({
        source: executableUrl === undefined ? 'medium' : 'url',
        hasNetworkConfig: cluster.networkConfig !== undefined,
      }).map(({ name, contents, enabled }) =>
        unit(name, { contents: withoutComments(contents), enabled }),
      ),
      // As on every host that runs from its disk: they stay.
      machineConfig(cluster, 'aio').dropins,
    ),
    users: coreUser(cluster),
  });
}

const configOfHost = (
  { clusterId, name, baseDomain, proxy }: InPlaceInput['cluster'],
  bundle: InPlaceConfig['bundle'],
): InPlaceConfig => ({
  apiVersion: 'sno-agents/v1',
  ...{ clusterId, name, baseDomain, bundle },
  ...(proxy === undefined ? {} : { proxy }),
});

/** They are a third of a unit. */
const withoutComments = (contents: string) => contents.replace(/^#.*\n/gm, '');

/** A config that contains another one, compressed: clouds limit its bytes. */
export const packed = (text: string): IgnitionConfig => ({
  ignition: { version: BASE_SPEC, config: { replace: dataUrl(text) } },
});

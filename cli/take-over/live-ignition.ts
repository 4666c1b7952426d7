import { Failure } from '../../lib/base/errors/failure.ts';
import type { File, IgnitionConfig } from '../../lib/render/ignition/config.ts';
import { highestVersion } from '../../lib/render/ignition/config.ts';
import { dataUrl } from '../../lib/render/ignition/data-url.ts';
import { configOf, directory, unit, withDropins } from '../../lib/render/ignition/entries.ts';
import { mergeConfigs } from '../../lib/render/ignition/merge.ts';
import { liveDropins, openShiftDropins } from '../../units/live.ts';
import type { UnitFile } from '../../units/unit-file.ts';
import { liveDirectories, liveLinks, plain } from '../create/live-ignition.ts';
import { type SharedInput, sharedFiles } from '../create/shared-entries.ts';
import { assetPaths } from './assets.ts';

export interface TakenOver extends Omit<SharedInput, 'deferred'> {
  /** The installer's config without what the agents replace. */
  readonly kept: IgnitionConfig;
  /** The contents of its files below /opt/openshift, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly units: readonly UnitFile[];
}

/**
 * The Ignition config of a live host for OpenShift: what is kept of the installer's, and the agents.
 * Everything below /opt/openshift is private, as manifests can be Secrets with keys.
 *
 * @throws Failure (usage) if something that is kept has the place of something of the agents.
 */
export function takenOverIgnition(input: TakenOver): IgnitionConfig {
  const { kept, texts } = input;
  const ours = agentsConfig(input);
  requireApart(kept, ours);
  const files = (kept.storage?.files ?? []).map((file) => asset(file, texts.get(file.path)));
  const merged = mergeConfigs({ ...kept, storage: { ...kept.storage, files } }, ours);
  const version = highestVersion(kept.ignition.version, ours.ignition.version);
  return { ...merged, ignition: { ...kept.ignition, version } };
}

function agentsConfig(input: TakenOver): IgnitionConfig {
  return configOf({
    directories: [
      ...liveDirectories(),
      directory(`${assetPaths.folder}auth`, 0o700),
      // The sandbox of bootkube opens these, so they must exist.
      ...['/etc/mcc', '/etc/mcs', '/etc/ssl/mcs'].map((path) => directory(path, 0o700)),
    ],
    files: sharedFiles({ ...input, deferred: [] }, plain),
    links: liveLinks(),
    units: withDropins(
      input.units.map(({ name, contents, enabled }) => unit(name, { contents, enabled })),
      [...openShiftDropins, ...liveDropins],
    ),
  });
}

function asset(file: File, text: string | undefined): File {
  if (!file.path.startsWith(assetPaths.folder)) return file;
  const contents = text === undefined ? file.contents : dataUrl(text, { gzip: false });
  return { ...file, mode: 0o600, ...(contents === undefined ? {} : { contents }) };
}

/** In a merge one of two would be lost in silence. */
function requireApart(kept: IgnitionConfig, ours: IgnitionConfig): void {
  const own = new Set(placesOf(ours));
  const both = placesOf(kept).filter((place) => own.has(place));
  if (both.length === 0) return;
  throw new Failure('usage', 'The config has files or units of the agents; nothing was written', {
    expected: 'none of them',
    found: both.join(', '),
    fix: 'Use a config as openshift-install wrote it, without --keep for these.',
  });
}

function placesOf({ storage, systemd }: IgnitionConfig): string[] {
  return [
    ...[...(storage?.files ?? []), ...(storage?.links ?? [])].map(({ path }) => path),
    ...(systemd?.units ?? []).flatMap(({ name, contents, mask, dropins = [] }) => [
      // An entry with drop-ins only adds them.
      ...(contents === undefined && mask === undefined ? [] : [name]),
      ...dropins.map((dropin) => `${name}.d/${dropin.name}`),
    ]),
  ];
}

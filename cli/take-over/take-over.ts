import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { printable } from '../../lib/base/printable.ts';
import { type Cluster, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import { firstOf } from '../../lib/config/file/fault.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import {
  type IgnitionConfig,
  readConfig,
  serializeConfig,
} from '../../lib/render/ignition/config.ts';
import { validateConfigText } from '../../lib/render/ignition/validate.ts';
import { plural } from '../../report/reading/words.ts';
import { type AgentsExecutable, describeExecutable } from '../agents-executable.ts';
import { CLUSTER_PATH } from '../create/changed-since.ts';
import { EMBED_AREA_BYTES, embeddedBytes, kibibytes, tooLarge } from '../create/embed-area.ts';
import { plain } from '../create/live-ignition.ts';
import { requireAbsent, writeOutputs } from '../create/outputs.ts';
import { readOwnSettings, withSettings } from '../create/own-settings.ts';
import { requireServed } from '../create/served.ts';
import { IGNITION_NAME, unitsFor } from '../create/single-node-ignition-config.ts';
import { readUserManifests } from '../create/user-manifests.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import { readInstallSettings } from '../install-config/settings.ts';
import type { Surroundings } from '../surroundings.ts';
import { readIgnitionText } from '../verify/ignition.ts';
import {
  assetPaths,
  type InstallerAssets,
  readAssets,
  reducedInstallConfig,
  textOf,
} from './assets.ts';
import { BESIDE, readBeside, requireSameCluster } from './beside.ts';
import { takenOverIgnition } from './live-ignition.ts';
import { machineApprovalManifests } from './machine-approval.ts';
import { requireTakeOver, type TakeOverOptions } from './options.ts';
import { renewCertificates } from './renew-certificates.ts';
import { addedLines, certificateLines, entryLines } from './report.ts';
import { type SortedConfig, sortEntries } from './sort-entries.ts';

const ROOT_CA = `${assetPaths.folder}tls/root-ca.crt`;

/**
 * `sno create single-node-ignition-config --from-ignition F`: takes over the bootstrap Ignition
 * config of openshift-install. Its assets stay, its shell and units are replaced by the agents.
 *
 * @throws Failure (usage), with nothing written, for anything that is not understood
 */
export async function takeOverInstaller(
  options: TakeOverOptions,
  { environment, print, wrote, notice, signal }: Surroundings,
): Promise<void> {
  const { dir } = options;
  const shippingDays = requireTakeOver(options);
  requireServed(options);
  const source = await sourceOf(options.fromIgnition);
  const output = join(dir, IGNITION_NAME);
  await requireAbsent(
    [output, ...BESIDE.map((name) => join(dir, name))],
    'Set another, new folder with --dir.',
  );
  const config = await readSource(source);
  const sorted = sortEntries(config, new Set(options.keep ?? []));
  const assets = requireUnderstood(source, config, sorted, options);
  const executable = await describeExecutable(options.agentsExecutable, environment, signal);
  const cluster = clusterOf(source, assets, environment[DISK_VARIABLE], executable);
  const beside = await readBeside(dirname(source), dir);
  const texts = assetTexts(source, sorted.kept);
  requireSameCluster(beside.found, cluster, assets.openshift, texts.get(ROOT_CA) ?? '');
  const certificates = await renewCertificates(texts, shippingDays, new Date());
  const manifests = await ownManifests(dir, sorted.kept, signal);
  const given = [...texts.values(), ...manifests.map(({ contents }) => contents.toString())];
  const approval = machineApprovalManifests(assets.openshift, given);
  const settings = await readOwnSettings(options, signal);
  const taken = takenOverIgnition({
    kept: sorted.kept,
    texts: certificates.texts,
    cluster,
    pullSecret: assets.pullSecret,
    manifests: [...manifests, ...approval],
    ...unitsFor(options.agentsUrl),
  });
  const text = serializeConfig(withSettings(taken, settings, plain));
  const faults = validateConfigText(text);
  if (faults.length > 0) {
    const lines = faults.map(({ at, problem }) => `${at} ${problem}`);
    throw refused(source, [`${plural(lines.length, 'error')} in what would be written`, ...lines]);
  }
  const embedded = await embeddedBytes(text, signal);

  signal.throwIfAborted();
  await writeOutputs([...beside.found, { path: output, contents: text }]);
  const size = `${kibibytes(embedded)} of ${kibibytes(EMBED_AREA_BYTES)} in a live ISO`;
  wrote(output, size);
  for (const { path } of beside.found) print(`Copied ${path}`);
  const { version, releaseImage } = assets.openshift;
  print(`Control plane: ${assets.product} ${version}, from the release image ${releaseImage}`);
  for (const line of entryLines(sorted.entries)) print(line);
  for (const line of addedLines(sorted.entries)) print(line);
  for (const line of certificateLines(certificates)) print(line);
  if (approval.length > 0)
    print('Added, so that no Machine is enough for a certificate of a node:');
  for (const { path } of approval) print(`  ${path}`);
  if (beside.missing.length > 0) {
    notice(`not beside ${source}, so not copied: ${beside.missing.join(', ')}`);
  }
  for (const text of tooLarge(embedded)) notice(text);
  if (assets.unknownRelease !== undefined) notice(assets.unknownRelease);
  notice(EXPERIMENTAL);
}

const EXPERIMENTAL =
  'experimental: no host with a release of OpenShift has been installed yet, so install only hosts that you can lose';

/** The config itself, where its folder is named. */
async function sourceOf(named: string): Promise<string> {
  const stats = await stat(named).catch(() => undefined);
  const path = stats?.isDirectory() ? join(named, IGNITION_NAME) : named;
  await requireRegularFile(path, 'The Ignition config');
  return path;
}

async function readSource(source: string): Promise<IgnitionConfig> {
  const read = readConfig(await readIgnitionText(source));
  if (!read.ok) {
    throw refused(source, [
      'It is not an Ignition config',
      ...read.faults.map(({ at, problem }) => `${at} ${problem}`),
    ]);
  }
  const paths = (read.config.storage?.files ?? []).map(({ path }) => path);
  if (!paths.includes(CLUSTER_PATH)) return read.config;
  throw refused(source, ['It was created by sno, not by openshift-install']);
}

function requireUnderstood(
  source: string,
  config: IgnitionConfig,
  { unknown, missing, entries }: SortedConfig,
  { keep = [], acceptUnknownRelease = false }: TakeOverOptions,
): InstallerAssets {
  if (missing.length > 0) {
    throw refused(source, [
      'It is not a bootstrap config of openshift-install create single-node-ignition-config; missing:',
      ...missing,
    ]);
  }
  const unused = keep.filter((at) => !entries.some((entry) => entry.at === at && !entry.isKnown));
  const read = readAssets(config, acceptUnknownRelease);
  const faults = [
    ...unknown.map((at) => `${at}: unknown; it may be code that does what the agents do`),
    ...unused.map((at) => `--keep ${at}: names nothing that would be refused`),
    ...(read.ok ? [] : read.faults),
  ];
  if (read.ok && faults.length === 0) return read.assets;
  const fix = unknown.length === 0 ? [] : ['Remove what is unknown, or keep it with --keep NAME'];
  throw refused(source, [plural(faults.length, 'error'), ...firstOf(faults), ...fix]);
}

function clusterOf(
  source: string,
  assets: InstallerAssets,
  diskVariable: string | undefined,
  executable: AgentsExecutable,
): Cluster {
  const read = readInstallSettings(reducedInstallConfig(assets), diskVariable);
  if (!read.ok) {
    const lines = read.faults.map(
      ({ field, expected, found }) =>
        `install-config: ${field}: expected ${expected}, found ${found}`,
    );
    throw refused(source, [plural(lines.length, 'error'), ...firstOf(lines)]);
  }
  const { architecture = executable.architecture } = read.settings;
  if (architecture !== executable.architecture) {
    throw refused(source, [
      `controlPlane.architecture is ${architecture}, and the executable is for ${executable.architecture}`,
    ]);
  }
  return clusterSchema.parse({
    ...read.settings.cluster,
    controlPlane: 'openshift',
    openshift: assets.openshift,
    clusterId: randomUUID(),
    executableSha256: executable.sha256,
  });
}

/** Contents that are not in the config itself cannot be checked. */
function assetTexts(source: string, kept: IgnitionConfig): Map<string, string> {
  const files = (kept.storage?.files ?? []).filter(({ path }) =>
    path.startsWith(assetPaths.folder),
  );
  const texts = new Map<string, string>();
  const remote: string[] = [];
  for (const file of files) {
    const text = textOf(file);
    if (text === undefined) remote.push(file.path);
    else texts.set(file.path, text);
  }
  if (remote.length === 0) return texts;
  throw refused(source, ['These files have no contents in the config:', ...firstOf(remote)]);
}

/** Manifests in the folder of the outputs are added to those of the installer. */
async function ownManifests(dir: string, kept: IgnitionConfig, signal: AbortSignal) {
  const { manifests, faults } = await readUserManifests(dir, signal);
  const taken = new Set((kept.storage?.files ?? []).map(({ path }) => path));
  const twice = manifests
    .filter(({ path }) => taken.has(`${assetPaths.folder}${path}`))
    .map(({ path }) => `${path}: expected another name: the installer's config has this file too`);
  if (faults.length + twice.length === 0) return manifests;
  throw refused(dir, [plural(faults.length + twice.length, 'error'), ...faults, ...twice]);
}

function refused(path: string, lines: readonly string[]): Failure {
  const head = `${path} cannot be taken over; nothing was written`;
  return new Failure('usage', [head, ...lines.map(printable)].join('\n'));
}

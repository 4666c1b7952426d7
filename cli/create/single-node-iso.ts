import { join, resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { parseConfig } from '../../lib/render/ignition/config.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import { embedIgnition, verifyLiveIso } from '../iso/coreos-installer.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import type { AcceptOptions } from '../payload/accept.ts';
import { stagesOf } from '../process/stages.ts';
import type { Surroundings } from '../surroundings.ts';
import type { AdditionOptions } from './additions.ts';
import {
  type ConfigUrlOptions,
  configPlace,
  pointerTo,
  requireFetchable,
} from './config-by-url.ts';
import { embeddedBytes, requireEmbeddable } from './embed-area.ts';
import { mebibytes, writeLargeFile } from './large-file.ts';
import { type LiveMedium, newMedium, requirePayload } from './live-medium.ts';
import {
  type MadeIgnition,
  madeIgnition,
  pinnedConfig,
  requireUsable,
  withoutPayload,
} from './made-ignition.ts';
import { sizeOf } from './medium-files.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';
import { readFolder } from './read-folder.ts';
import { describeShared, sharedMedium } from './shared-iso.ts';
import { createSingleNodeIgnitionConfig, IGNITION_NAME } from './single-node-ignition-config.ts';

export interface CreateIsoOptions extends AcceptOptions, AdditionOptions, ConfigUrlOptions {
  /** The folder with install-config.yaml or the Ignition config created from it. */
  dir: string;
  /** A CoreOS live ISO as downloaded; it is not changed. */
  iso?: string;
  /** Instead of `iso`, `payload` and `agentsExecutable`: an ISO of `sno create shared-iso`; it is not changed. */
  shared?: string;
  /** Folder with payload.yaml. A config that was taken over from openshift-install, or downloads the payload, has none. */
  payload?: string;
  /** The new ISO; by default in `dir`. */
  output?: string;
  agentsExecutable?: string;
  machineConfigServer?: string;
}

/**
 * `sno create single-node-iso`: a copy of a live ISO that carries the Ignition
 * config, the executable and the payload, so that a host needs no network to start.
 * Uses the config in the folder, or creates it. With `shared`, all but the config is there already, and the copy shares
 * its blocks with it where the file system can.
 */
export async function createSingleNodeIso(
  options: CreateIsoOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir } = options;
  const { environment, wrote, notice, signal } = surroundings;
  const output = resolve(options.output ?? join(dir, 'single-node.iso'));
  const stage = stagesOf(surroundings);
  const chosen = sourceOf(options);
  const place = await configPlace(options);
  await requireIsoPrograms(environment);
  const served = place === undefined ? undefined : resolve(dir, place.name);
  await requireAbsent([output], 'Move it away, or use another file with --output.');
  if (served !== undefined) await requireAbsent([served], 'Move it away, or use another URL.');
  const made = await madeIgnition(dir);
  const medium = await mediumFor(chosen, made, output, surroundings);
  if (place !== undefined) requireFetchable(await clusterAsIs(made, dir, surroundings));
  if (made === undefined) await createConfig(options, medium, surroundings);
  else {
    await requireUsable(made, medium.contents, options, surroundings);
    for (const text of medium.notices) notice(text);
  }
  const ignition = join(dir, IGNITION_NAME);
  const { config, cluster } = await pinnedConfig(ignition, medium.contents.payload);
  const embedded = place === undefined ? config : pointerTo(config, cluster, place);
  requireEmbeddable(parseConfig(embedded, ignition), await embeddedBytes(embedded, signal));
  const { source, liveIso } = medium;
  stage(`Copying ${source}, ${mebibytes(await sizeOf(source))}`);
  const bytes = await writeLargeFile(output, source, signal, async (copy) => {
    await medium.complete(copy);
    stage('Embedding the Ignition config, and reading it back');
    await embedIgnition(copy, embedded, signal);
    await verifyLiveIso(copy, { ...liveIso, config: embedded }, signal);
    if (served !== undefined) await writeOutputs([{ path: served, contents: config }]);
  });
  const has = served === undefined ? `the secrets of ${ignition}` : 'the URL of its config';
  wrote(output, `${mebibytes(bytes)}, with ${has}`);
  if (served !== undefined) wrote(served, 'to be uploaded to that URL, with the secrets');
}

/**
 * The first half of the same with a shared ISO: the Ignition config, the kubeconfig and metadata.json, into a folder that has none of
 * them. Whoever keeps them elsewhere before anybody has the ISO makes the same one again.
 */
export async function createSharedIsoConfig(
  { dir, shared, isEmbedded }: { dir: string; shared: string; isEmbedded: boolean },
  surroundings: Surroundings,
): Promise<void> {
  const { contents } = await describeShared(shared, surroundings.signal);
  requirePayload(contents.payload !== undefined, undefined, payloadOn(shared));
  const { payload } = contents;
  const pinned = payload === undefined ? {} : { payloadSha256: payload.sha256 };
  const { executable } = contents;
  const medium = { forIso: isEmbedded, executable };
  await createSingleNodeIgnitionConfig({ dir, ...pinned }, surroundings, medium);
}

/** Of the config that is there, else of install-config.yaml. */
const clusterAsIs = async (
  made: MadeIgnition | undefined,
  dir: string,
  { environment, signal }: Surroundings,
): Promise<Pick<Cluster, 'networkConfig'>> =>
  made?.cluster ?? (await readFolder(dir, environment[DISK_VARIABLE], signal)).settings.cluster;

/** A shared ISO, or what is to be put together. */
type Source = { shared: string } | Parameters<typeof newMedium>[0];

/** @throws Failure (usage) unless there is either of them */
function sourceOf(options: CreateIsoOptions): Source {
  const { shared, iso } = options;
  if (shared === undefined) {
    if (iso !== undefined) return { ...options, iso };
    throw new Failure('usage', '--iso: missing; nothing was written', {
      fix: 'Name a live ISO, or with --shared one of "sno create shared-iso".',
    });
  }
  const onIt = {
    '--iso': iso,
    '--payload': options.payload,
    '--agents-executable': options.agentsExecutable,
    '--accept-untested': options.acceptUntested,
  };
  const given = Object.entries(onIt).filter(([, value]) => value !== undefined);
  if (given.length === 0) return { shared };
  const names = given.map(([name]) => name).join(' and ');
  throw new Failure('usage', `${names}: not with --shared; nothing was written`, {
    found: `${shared}, which has a live system, the executable and the payload that were accepted for it`,
    fix: `Leave out ${names}, or --shared.`,
  });
}

/** @throws Failure (usage) for a medium without what the host reads, or with what it does not */
async function mediumFor(
  chosen: Source,
  made: MadeIgnition | undefined,
  output: string,
  surroundings: Surroundings,
): Promise<LiveMedium> {
  const without = withoutPayload(made);
  if ('shared' in chosen) {
    const medium = await sharedMedium(chosen.shared, output, surroundings);
    requirePayload(medium.contents.payload !== undefined, without, payloadOn(chosen.shared));
    return medium;
  }
  requirePayload(chosen.payload !== undefined, without, {
    what: '--payload',
    fix: {
      lacks:
        'Name the folder of the payload. Only a config that downloads it (--payload-url), or that was taken over from openshift-install (--from-ignition), needs none.',
      needless: 'Leave out --payload',
    },
  });
  return newMedium(chosen, output, surroundings);
}

const payloadOn = (shared: string) => ({
  what: `The payload on ${shared}`,
  fix: {
    lacks: 'Create the shared ISO with --payload, or first a config with --payload-url.',
    needless: 'Use a shared ISO that was created without --payload',
  },
});

/** The config for that medium; tells of the payload's versions. */
async function createConfig(
  { iso: _, shared, configUrl, ...options }: CreateIsoOptions,
  { contents: { executable, payload } }: LiveMedium,
  surroundings: Surroundings,
): Promise<void> {
  const pinned = payload === undefined ? {} : { payloadSha256: payload.sha256 };
  await createSingleNodeIgnitionConfig(
    shared === undefined ? options : { ...options, ...pinned },
    surroundings,
    { forIso: configUrl === undefined, executable },
  );
}

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type Cluster, clusterDomain, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import { machineConfigServerProblem } from '../../lib/config/site/machine-config-server.ts';
import { sha256OfFile } from '../../lib/host/files.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { executableByUrl, liveUnits } from '../../units/live.ts';
import {
  type AgentsExecutable,
  describeExecutable,
  requireConfigured,
  requireSameArchitecture,
} from '../agents-executable.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import { acceptedPayload } from '../payload/accept.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AdditionOptions, readAdditions } from './additions.ts';
import { type DayOneWorkers, dayOneWorkers } from './day-one-workers.ts';
import type { DeferredUserManifests } from './defer-manifests.ts';
import {
  EMBED_AREA_BYTES,
  embeddedBytes,
  kibibytes,
  requireEmbeddable,
  tooLarge,
} from './embed-area.ts';
import { liveWithAdditions } from './live-additions.ts';
import { type LiveIgnitionInput, liveIgnition } from './live-ignition.ts';
import { METADATA_NAME, metadataText } from './metadata.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';
import { readFolder } from './read-folder.ts';
import { requireServed, type ServedOptions } from './served.ts';
import { configNotices } from './site-notices.ts';
import { soundText } from './sound-text.ts';
import { WORKER_IGNITION_NAME, type WorkerConfigOptions } from './worker-config.ts';

/** In the folder with install-config.yaml, under the name that openshift-install uses. */
export const IGNITION_NAME = 'bootstrap-in-place-for-live-iso.ign';

export interface CreateOptions extends ServedOptions, WorkerConfigOptions, AdditionOptions {
  /** The folder with install-config.yaml; outputs go there too. */
  dir: string;
  /** The sno-agents executable, if not the one of this build. */
  agentsExecutable?: string;
  /** Where the live host fetches the master Ignition. */
  machineConfigServer?: string;
}

/**
 * `sno create single-node-ignition-config`: creates the Ignition config of a live
 * host and the administrator's kubeconfig from install-config.yaml, which is kept. `forIso`: it will be embedded in a
 * live ISO, and must fit there; `executable`: the one on it.
 * @throws Failure (usage), with nothing written, for anything wrong in the folder
 */
export async function createSingleNodeIgnitionConfig(
  options: CreateOptions,
  surroundings: Surroundings,
  { forIso, executable: onMedium }: { forIso: boolean; executable?: AgentsExecutable } = {
    forIso: false,
  },
): Promise<void> {
  const { dir } = options;
  const { environment, print, wrote, notice, signal } = surroundings;
  requireServed(options);
  const ignitionPath = join(dir, IGNITION_NAME);
  const kubeconfigPath = join(dir, 'auth', 'kubeconfig');
  const metadataPath = join(dir, METADATA_NAME);
  await requireAbsent([ignitionPath, kubeconfigPath, metadataPath]);

  const { settings, user, reportTo, backupTo, notRead } = await readFolder(
    dir,
    environment[DISK_VARIABLE],
    signal,
  );
  const additions = await readAdditions(options, signal);
  const executable =
    onMedium ?? (await describeExecutable(options.agentsExecutable, environment, signal));
  // Of a payload that is given, both are compared with it.
  const payload = options.payload === undefined ? undefined : await readPayload(options.payload);
  if (payload === undefined) requireConfigured(settings.architecture, executable);
  else requireSameArchitecture(executable, payload);
  const payloadNotices = payload && (await acceptedPayload(payload, 'install', options, signal));
  const cluster = {
    ...clusterOf(settings, randomUUID(), executable.sha256),
    ...(await pinnedPayload(options, settings.architecture, signal)),
    ...machineConfigServer(options.machineConfigServer),
  };
  const { authorities, kubeconfig } = await createLaptopCredentials(
    clusterDomain(cluster),
    cluster.name,
  );
  const workers = workersOf({
    settings,
    cluster,
    apiCa: authorities.servingCa.certificate,
    options,
  });
  const workerPath = join(dir, WORKER_IGNITION_NAME);
  if (workers !== undefined) await requireAbsent([workerPath]);
  const input = {
    ...{ cluster, authorities, pullSecret: settings.pullSecret, reportTo, backupTo },
    ...{ manifests: user.manifests, deferred: user.deferred, workerToken: workers?.token },
  };
  const config = liveWithAdditions(
    liveIgnition({ ...input, ...unitsFor(options.agentsUrl) }),
    input,
    additions,
  );
  const text = soundText(config);
  const embedded = await embeddedBytes(text, signal);
  if (forIso) requireEmbeddable(config, embedded);

  signal.throwIfAborted();
  await writeOutputs([
    { path: kubeconfigPath, contents: kubeconfig },
    { path: metadataPath, contents: metadataText(cluster) },
    { path: ignitionPath, contents: text },
    ...(workers === undefined ? [] : [{ path: workerPath, contents: workers.text }]),
  ]);
  wrote(ignitionPath, `${kibibytes(embedded)} of ${kibibytes(EMBED_AREA_BYTES)} in a live ISO`);
  wrote(metadataPath, "the cluster's name and ids");
  wrote(kubeconfigPath, `for https://api.${clusterDomain(cluster)}:6443`);
  if (workers !== undefined) {
    wrote(workerPath, 'for all workers');
    print(`Workers reach the API at ${workers.apiServer}`);
    for (const text of workers.notices) notice(text);
  }
  const source =
    cluster.payloadUrl === undefined ? 'on the live medium' : `at ${cluster.payloadUrl}`;
  print(`Control plane: ${cluster.controlPlane}, from the payload ${source}`);
  for (const text of [
    ...noticesOf(settings, user),
    ...notRead,
    ...(payloadNotices ?? []),
    ...additions.notices,
    ...tooLarge(embedded),
  ]) {
    notice(text);
  }
  if (cluster.payloadSha256 === undefined) {
    notice(NOT_PINNED);
  }
}

/** A live medium does not serve hosts that boot from their disks. */
function workersOf(made: Parameters<typeof dayOneWorkers>[0]): DayOneWorkers | undefined {
  const { dayOneWorkers: count, payloadUrl } = made.cluster;
  if (count !== undefined && payloadUrl === undefined) {
    throw new Failure('usage', 'workers cannot use the live medium; nothing was written', {
      expected: '--agents-url and --payload-url, or compute.replicas 0',
      fix: 'Serve executable and payload, or add workers to the running cluster with "sno create worker-ignition --medium-iso".',
    });
  }
  return dayOneWorkers(made);
}

/** The agents' units, with or without a medium. */
export function unitsFor(
  executableUrl: string | undefined,
): Pick<LiveIgnitionInput, 'units' | 'executableUrl'> {
  if (executableUrl === undefined) return { units: liveUnits };
  const units = liveUnits.map((unit) =>
    unit.name === executableByUrl.name ? executableByUrl : unit,
  );
  return { units, executableUrl };
}

/** The text of a config that an earlier run wrote. */
export async function readCreated(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Failure('usage', `${path} cannot be read`, { cause });
  });
}

/** The part of the cluster's description that install-config.yaml determines. */
export function clusterOf(
  { cluster }: InstallSettings,
  clusterId: string,
  executableSha256: string,
): Cluster {
  return clusterSchema.parse({ ...cluster, clusterId, executableSha256 });
}

/** The payload's own description is checked here, and the Ignition contains its digest. */
export async function pinnedPayload(
  { payload, payloadSha256, payloadUrl }: ServedOptions,
  architecture: InstallSettings['architecture'],
  signal: AbortSignal,
): Promise<Pick<Cluster, 'payloadSha256' | 'payloadUrl'>> {
  const served = payloadUrl === undefined ? {} : { payloadUrl };
  if (payload === undefined) {
    return { ...served, ...(payloadSha256 === undefined ? {} : { payloadSha256 }) };
  }
  const { architecture: found } = await readPayload(payload);
  if (architecture !== undefined && architecture !== found) {
    throw new Failure('usage', `${payload} is for another architecture; nothing was written`, {
      expected: `${architecture}, as controlPlane.architecture of install-config.yaml`,
      found,
      fix: 'Use the payload for that architecture.',
    });
  }
  return { ...served, payloadSha256: await sha256OfFile(join(payload, payloadFile), signal) };
}

function machineConfigServer(url: string | undefined): Pick<Cluster, 'machineConfigServerUrl'> {
  if (url === undefined) return {};
  const problem = machineConfigServerProblem(url);
  if (problem === undefined) return { machineConfigServerUrl: url };
  const what = '--machine-config-server is not valid; nothing was written';
  throw new Failure('usage', what, { ...problem });
}

const NOT_PINNED =
  'the payload is not pinned: the live host accepts any payload on its medium. Use --payload';

/** Valid input that may not be what was intended. */
function noticesOf(settings: InstallSettings, user: DeferredUserManifests): string[] {
  return [...configNotices(settings), ...manifestNotices(user)];
}

/** What becomes of the user's manifests. */
export function manifestNotices(user: DeferredUserManifests): string[] {
  const notices: string[] = [];
  if (user.manifests.length > 0) {
    notices.push(`included: ${user.manifests.map(({ path }) => path).join(', ')}`);
  }
  notices.push(...user.deferredNotices);
  if (user.skipped.length > 0) {
    notices.push(`not included, because not .yaml, .yml or .json: ${user.skipped.join(', ')}`);
  }
  return notices;
}

import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type Cluster, clusterDomain } from '../../lib/cluster/cluster.ts';
import { describeError, Failure } from '../../lib/errors/failure.ts';
import { invalidConfig, serializeConfig } from '../../lib/ignition/config.ts';
import { validateConfigText } from '../../lib/ignition/validate.ts';
import { type Payload, readPayload } from '../../lib/payload/payload.ts';
import { createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import {
  describeExecutable,
  executablePath,
  readExecutable,
  requireSameArchitecture,
} from '../agents-executable.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import type { AddedFile } from '../iso/add-files.ts';
import { createMedium } from '../iso/create-medium.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import type { Surroundings } from '../surroundings.ts';
import { aioIgnitionConfig } from './aio-ignition-config.ts';
import { dayOneWorkers } from './day-one-workers.ts';
import { kibibytes } from './embed-area.ts';
import { requireSpace, writeLargeFile } from './large-file.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';
import { type FolderContents, faultsIn, inspectFolder } from './read-folder.ts';
import { type ServedOptions, servedFaults } from './served.ts';
import { manifestNotices, pinnedPayload } from './single-node-ignition-config.ts';
import { FOLDER, filesOf, readWholePayload, totalSize } from './single-node-iso.ts';
import { aioNotices } from './site-notices.ts';
import { WORKER_IGNITION_NAME, type WorkerConfigOptions } from './worker-config.ts';

/** In the folder with install-config.yaml. */
export const AIO_IGNITION_NAME = 'aio.ign';

export interface AioOptions extends ServedOptions, WorkerConfigOptions {
  /** The folder with install-config.yaml; outputs go there too. */
  dir: string;
  agentsExecutable?: string;
  /** The new ISO with the executable and the payload. */
  mediumIso?: string;
}

/** Everything that was found to be sound. */
export interface Sound extends FolderContents {
  readonly executableSha256: string;
  readonly payload: Pick<Cluster, 'payloadUrl'> & { readonly payloadSha256: string };
  readonly medium: Medium | undefined;
}

/** An ISO to be written. */
interface Medium {
  readonly path: string;
  readonly files: readonly AddedFile[];
}

/**
 * `sno create aio-ignition`: creates the Ignition config of an all-in-one host and the
 * administrator's kubeconfig from install-config.yaml, which is kept; with `mediumIso` also the
 * medium that it expects.
 * @throws Failure (usage), with nothing written, that names every fault of the folder and the options
 */
export async function createAioIgnition(
  options: AioOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir } = options;
  const { print, signal } = surroundings;
  const ignition = join(dir, AIO_IGNITION_NAME);
  const kubeconfig = join(dir, 'auth', 'kubeconfig');
  const sound = await inspect(options, [ignition, kubeconfig], surroundings);
  const { settings, user } = sound;
  const { installation: _, ...described } = settings.cluster;
  const cluster = {
    ...described,
    ...sound.payload,
    clusterId: randomUUID(),
    executableSha256: sound.executableSha256,
  };
  const domain = clusterDomain(cluster);
  const credentials = await createLaptopCredentials(domain, cluster.name);
  const apiCa = credentials.authorities.servingCa.certificate;
  const workers = dayOneWorkers({ settings, cluster, apiCa, options });
  const worker = join(dir, WORKER_IGNITION_NAME);
  if (workers !== undefined) await requireAbsent([worker]);
  const config = aioIgnitionConfig({
    cluster,
    authorities: credentials.authorities,
    pullSecret: settings.pullSecret,
    manifests: user.manifests,
    deferred: user.deferred,
    workerToken: workers?.token,
    ...(options.agentsUrl === undefined ? {} : { executableUrl: options.agentsUrl }),
  });
  const text = serializeConfig(config);
  const faults = validateConfigText(text);
  if (faults.length > 0) throw invalidConfig('this program', faults);
  const outputs = [
    { path: kubeconfig, contents: credentials.kubeconfig },
    { path: ignition, contents: text },
    ...(workers === undefined ? [] : [{ path: worker, contents: workers.text }]),
  ];

  signal.throwIfAborted();
  await writeAll(outputs, sound.medium, surroundings);
  print(`Wrote ${ignition} (${kibibytes(Buffer.byteLength(text))})`);
  print(`Wrote ${kubeconfig} (for https://api.${domain}:6443)`);
  const source = sound.payload.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`;
  print(`Control plane: ${cluster.controlPlane}, from the payload on ${source}`);
  if (workers !== undefined) print(`Wrote ${worker} (for all workers)`);
  for (const line of workers?.lines ?? []) print(line);
  for (const notice of [...aioNotices(settings), ...manifestNotices(user), ONE_INSTALLATION]) {
    print(`Notice: ${notice}`);
  }
}

const ONE_INSTALLATION = `one Ignition config is one installation: create another one for each host. ${AIO_IGNITION_NAME} has the key of the API server's CA, and auth/kubeconfig that of an administrator`;

/** Writes the outputs and the medium, or nothing. */
export async function writeAll(
  outputs: Parameters<typeof writeOutputs>[0],
  medium: Medium | undefined,
  { print, signal }: Surroundings,
): Promise<void> {
  if (medium === undefined) return writeOutputs(outputs);
  const bytes = await writeLargeFile(medium.path, undefined, signal, async (iso) => {
    const request = { iso, label: MEDIUM_LABEL, folder: FOLDER, files: medium.files };
    await createMedium({ ...request, signal });
    await writeOutputs(outputs);
  });
  print(`Wrote ${medium.path} (${Math.ceil(bytes / 1024 ** 2)} MiB, without secrets)`);
}

/**
 * Everything that the Ignition config of a host that boots from its disk is made from.
 * @throws Failure (usage) that names every fault of the folder and the options
 */
export async function inspect(
  options: AioOptions,
  outputs: readonly string[],
  { environment, signal }: Surroundings,
): Promise<Sound> {
  const { dir, mediumIso, payload: folder } = options;
  const faults = optionFaults(options);
  /** Undefined after a fault, which is reported together with the others. */
  const attempt = async <T>(body: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await body();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
      faults.push(describeError(error));
      return undefined;
    }
  };
  await attempt(() => requireAbsent(outputs));
  const read = await attempt(() =>
    inspectFolder(dir, environment[DISK_VARIABLE], signal, { writesDisk: false }),
  );
  faults.push(...(read?.faults ?? []));
  const executable = await attempt(async () =>
    mediumIso === undefined
      ? describeExecutable(options.agentsExecutable, environment, signal)
      : readExecutable(executablePath(options.agentsExecutable, environment), signal),
  );
  const architecture = read?.contents?.settings.architecture;
  const pinned = await attempt(() => pinnedPayload(options, architecture, signal));
  // One that cannot be pinned has been reported, and need not fit the executable.
  const payload =
    pinned === undefined || folder === undefined
      ? undefined
      : await attempt(() =>
          mediumIso === undefined ? readPayload(folder) : readWholePayload(folder, signal),
        );
  if (executable !== undefined && payload !== undefined) {
    await attempt(async () => requireSameArchitecture(executable, payload));
  }
  const medium =
    mediumIso === undefined || payload === undefined
      ? undefined
      : await attempt(() => mediumOf(mediumIso, payload, options, environment));
  const { payloadSha256, payloadUrl } = pinned ?? {};
  const isSound =
    faults.length === 0 &&
    read?.contents !== undefined &&
    executable !== undefined &&
    payloadSha256 !== undefined;
  if (!isSound) throw faultsIn(dir, faults);
  return {
    ...read.contents,
    executableSha256: executable.sha256,
    payload: { payloadSha256, ...(payloadUrl === undefined ? {} : { payloadUrl }) },
    medium,
  };
}

/** Where the host gets the executable and the payload: both by URL, or both from a medium. */
function optionFaults(options: AioOptions): string[] {
  const { agentsUrl, payloadUrl, payload, payloadSha256, mediumIso } = options;
  const faults = servedFaults(options);
  if (mediumIso !== undefined && (agentsUrl !== undefined || payloadUrl !== undefined)) {
    faults.push('--medium-iso and the URLs exclude each other: use a medium or a server');
  } else if ((agentsUrl === undefined) !== (payloadUrl === undefined)) {
    faults.push('--agents-url and --payload-url belong together: use both or none');
  }
  if (mediumIso !== undefined && payload === undefined) {
    faults.push('--medium-iso requires the payload itself: use --payload');
  } else if (payloadUrl === undefined && payload === undefined && payloadSha256 === undefined) {
    faults.push('the digest of the payload is missing: use --payload or --payload-sha256');
  }
  return faults;
}

async function mediumOf(
  iso: string,
  payload: Payload,
  { agentsExecutable }: AioOptions,
  environment: Surroundings['environment'],
): Promise<Medium> {
  const path = resolve(iso);
  await requireIsoPrograms(environment, ['xorriso']);
  await requireAbsent([path], 'Move it away, or use another file with --medium-iso.');
  const files = filesOf(executablePath(agentsExecutable, environment), payload);
  await requireSpace(path, await totalSize(files));
  return { path, files };
}

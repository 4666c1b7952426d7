import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import type { VersionUse } from '../../lib/payload/supported.ts';
import { createLaptopCredentials } from '../../lib/pki/kubeconfig.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import type { Surroundings } from '../surroundings.ts';
import { type AdditionOptions, type Additions, readAdditions, withAdditions } from './additions.ts';
import { aioIgnitionConfig } from './aio-ignition-config.ts';
import { configPlace, pointerTo, requireFetchable } from './config-by-url.ts';
import { dayOneWorkers } from './day-one-workers.ts';
import { kibibytes } from './embed-area.ts';
import {
  attempting,
  type HostSources,
  inspectSources,
  optionFaults,
  type SourceOptions,
  writeAll,
} from './host-sources.ts';
import { requireAbsent } from './outputs.ts';

import { type FolderContents, faultsIn, inspectFolder } from './read-folder.ts';
import { manifestNotices } from './single-node-ignition-config.ts';
import { aioNotices } from './site-notices.ts';
import { soundText } from './sound-text.ts';
import { WORKER_IGNITION_NAME, type WorkerConfigOptions } from './worker-config.ts';

/** In the folder with install-config.yaml. */
export const AIO_IGNITION_NAME = 'aio.ign';
export const AIO_POINTER_NAME = 'aio-pointer.ign';

export interface AioOptions extends SourceOptions, WorkerConfigOptions, AdditionOptions {
  /** The folder with install-config.yaml; outputs go there too. */
  dir: string;
  /** Where the host fetches aio.ign, https: for clouds that take less than that as user data. */
  pointerUrl?: string;
  /** A file with certificates that it trusts for that. */
  pointerUrlCa?: string;
}

/** Everything that was found to be sound. */
export interface Sound extends FolderContents, HostSources {
  readonly additions: Additions;
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
  const { print, wrote, notice, signal } = surroundings;
  const ignition = join(dir, AIO_IGNITION_NAME);
  const kubeconfig = join(dir, 'auth', 'kubeconfig');
  const place = await pointerPlace(options);
  const pointer = place === undefined ? [] : [join(dir, AIO_POINTER_NAME)];
  const sound = await inspect(options, [ignition, kubeconfig, ...pointer], surroundings);
  const { settings, user, reportTo, backupTo, notRead } = sound;
  requireNoTarget(settings);
  const { installation: _, ...described } = settings.cluster;
  const cluster = {
    ...described,
    ...sound.payload,
    clusterId: randomUUID(),
    executableSha256: sound.executableSha256,
  };
  if (place !== undefined) {
    requireFetchable(cluster, {
      option: '--pointer-url',
      without: `${AIO_IGNITION_NAME} is then the user data`,
    });
  }
  const domain = clusterDomain(cluster);
  const credentials = await createLaptopCredentials(domain, cluster.name);
  const apiCa = credentials.authorities.servingCa.certificate;
  const workers = dayOneWorkers({ settings, cluster, apiCa, options });
  const worker = join(dir, WORKER_IGNITION_NAME);
  if (workers !== undefined) await requireAbsent([worker]);
  const ours = aioIgnitionConfig({
    cluster,
    authorities: credentials.authorities,
    pullSecret: settings.pullSecret,
    manifests: user.manifests,
    deferred: user.deferred,
    reportTo,
    backupTo,
    workerToken: workers?.token,
    ...(options.agentsUrl === undefined ? {} : { executableUrl: options.agentsUrl }),
  });
  const config = withAdditions(ours, sound.additions);
  const text = soundText(config);
  const outputs = [
    { path: kubeconfig, contents: credentials.kubeconfig },
    { path: ignition, contents: text },
    ...pointer.flatMap((path) =>
      place === undefined ? [] : [{ path, contents: pointerTo(text, cluster, place) }],
    ),
    ...(workers === undefined ? [] : [{ path: worker, contents: workers.text }]),
  ];

  signal.throwIfAborted();
  await writeAll(outputs, sound.medium, surroundings);
  wrote(ignition, kibibytes(Buffer.byteLength(text)));
  for (const path of pointer) wrote(path, `user data, which needs ${AIO_IGNITION_NAME} at its URL`);
  wrote(kubeconfig, `for https://api.${domain}:6443`);
  const source = sound.payload.payloadUrl ?? `the medium with the label ${MEDIUM_LABEL}`;
  print(`Control plane: ${cluster.controlPlane}, from the payload on ${source}`);
  if (workers !== undefined) {
    wrote(worker, 'for all workers');
    print(`Workers reach the API at ${workers.apiServer}`);
    for (const text of workers.notices) notice(text);
  }
  for (const text of [
    ...aioNotices(settings),
    ...manifestNotices(user),
    ...notRead,
    ...sound.payloadNotices,
    ...sound.additions.notices,
    ...pointer.map(() => SERVED_ONCE),
    ONE_INSTALLATION,
  ]) {
    notice(text);
  }
}

const SERVED_ONCE = `${AIO_IGNITION_NAME} has keys, and ${AIO_POINTER_NAME} says where it is to everybody who reads the user data: delete it there once the host has started`;

const ONE_INSTALLATION = `one Ignition config is one installation: create another one for each host. ${AIO_IGNITION_NAME} has the key of the API server's CA, and auth/kubeconfig that of an administrator`;

const pointerPlace = ({ pointerUrl, pointerUrlCa }: AioOptions) =>
  configPlace(
    {
      ...(pointerUrl === undefined ? {} : { configUrl: pointerUrl }),
      ...(pointerUrlCa === undefined ? {} : { configUrlCa: pointerUrlCa }),
    },
    '--pointer-url',
  );

/** @throws Failure (usage) for a host that is to bootstrap in memory */
function requireNoTarget({ cluster }: FolderContents['settings']): void {
  if (cluster.inPlace !== true) return;
  throw new Failure('usage', 'bootstrapInPlace.target is self; nothing was written', {
    expected: 'no target for an all-in-one host, whose files of the installation are on its disk',
    fix: 'Use "sno create in-place-ignition", or leave the field out.',
  });
}

/**
 * Everything that the Ignition config of a host that boots from its disk is made from.
 * @throws Failure (usage) that names every fault of the folder and the options
 */
export async function inspect(
  options: AioOptions,
  outputs: readonly string[],
  surroundings: Surroundings,
  use: VersionUse = 'install',
): Promise<Sound> {
  const { dir } = options;
  const faults = optionFaults(options);
  const attempt = attempting(faults);
  await attempt(() => requireAbsent(outputs));
  const read = await attempt(() =>
    inspectFolder(dir, surroundings.environment[DISK_VARIABLE], surroundings.signal, {
      writesDisk: false,
    }),
  );
  faults.push(...(read?.faults ?? []));
  const additions = await attempt(() => readAdditions(options, surroundings.signal));
  const architecture = read?.contents?.settings.architecture;
  const sources = await inspectSources(options, { architecture, use }, attempt, surroundings);
  if (
    faults.length > 0 ||
    read?.contents === undefined ||
    sources === undefined ||
    additions === undefined
  ) {
    throw faultsIn(dir, faults);
  }
  return { ...read.contents, ...sources, additions };
}

import { join, resolve } from 'node:path';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import { type Cluster, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import { exists, sha256, sha256OfFile } from '../../lib/host/files.ts';
import { type Payload, payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { damagedFiles, payloadFiles } from '../../lib/payload/verify.ts';
import {
  type IgnitionConfig,
  parseConfig,
  serializeConfig,
} from '../../lib/render/ignition/config.ts';
import {
  type AgentsExecutable,
  executablePath,
  readExecutable,
  requireConfigured,
  requireSameArchitecture,
} from '../agents-executable.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import { type AddedFile, addFiles, MAX_FILE_BYTES } from '../iso/add-files.ts';
import { embedIgnition, readLiveIso, verifyLiveIso } from '../iso/coreos-installer.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { type AcceptOptions, acceptedPayload } from '../payload/accept.ts';
import { requireRegularFile } from '../process/regular-file.ts';
import { stagesOf } from '../process/stages.ts';
import type { Surroundings } from '../surroundings.ts';
import type { AdditionOptions } from './additions.ts';
import { CLUSTER_PATH, changedSince } from './changed-since.ts';
import { embeddedBytes, requireEmbeddable } from './embed-area.ts';
import { mebibytes, requireSpace, writeLargeFile } from './large-file.ts';
import { requireAbsent } from './outputs.ts';
import { readFolder } from './read-folder.ts';
import { clusterContents, executableByUrlPath } from './shared-entries.ts';
import {
  clusterOf,
  createSingleNodeIgnitionConfig,
  IGNITION_NAME,
  readCreated,
} from './single-node-ignition-config.ts';

export interface CreateIsoOptions extends AcceptOptions, AdditionOptions {
  /** The folder with install-config.yaml or the Ignition config created from it. */
  dir: string;
  /** A CoreOS live ISO as downloaded; it is not changed. */
  iso: string;
  /** Folder with payload.yaml. A config that was taken over from openshift-install has none. */
  payload?: string;
  /** The new ISO; by default in `dir`. */
  output?: string;
  agentsExecutable?: string;
  machineConfigServer?: string;
}

/** Maximum number of changes that a message names. */
const MAX_NAMED = 10;

/** Folder on the ISO, from its root, where live hosts find its additions. */
export const FOLDER = '/sno-agents';

/**
 * `sno create single-node-iso`: a copy of a live ISO that carries the Ignition
 * config, the executable and the payload, so that a host needs no network to start.
 * Uses the config in the folder, or creates it. One that was taken over from openshift-install has no
 * payload: that host pulls its images from a registry.
 */
export async function createSingleNodeIso(
  options: CreateIsoOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir, iso } = options;
  const { environment, wrote, notice, signal } = surroundings;
  const output = resolve(options.output ?? join(dir, 'single-node.iso'));
  const stage = stagesOf(surroundings);
  await requireIsoPrograms(environment);
  await requireAbsent([output], 'Move it away, or use another file with --output.');
  await requireRegularFile(iso, 'The live ISO');
  const liveIso = await readLiveIso(resolve(iso), signal);
  const executable = executablePath(options.agentsExecutable, environment);
  const described = await readExecutable(executable, signal);
  const ignition = join(dir, IGNITION_NAME);
  const made = (await exists(ignition)) ? await readPinned(ignition) : undefined;
  const isTakenOver = made?.cluster.controlPlane === 'openshift';
  if (!isTakenOver) stage('Verifying the payload');
  const payload = isTakenOver ? requireNoPayload(options) : await payloadOf(options, signal);
  if (payload !== undefined) requireSameArchitecture(described, payload);
  const notices = payload && (await acceptedPayload(payload, 'install', options));
  const files = filesOf(executable, payload);
  const sizes = { iso: await sizeOf(iso), files: await totalSize(files) };
  await requireSpace(output, sizes.iso + sizes.files);

  if (made !== undefined) {
    requireNoAdditions(ignition, options);
    await requireMadeFor(ignition, made, { executable, payload }, signal);
    // Of a config that was taken over, the install-config is in the installer's assets.
    if (!isTakenOver && (await exists(join(dir, INSTALL_CONFIG))))
      await requireUpToDate(ignition, made, described, options, surroundings);
    for (const text of notices ?? []) notice(text);
  } else {
    await createSingleNodeIgnitionConfig(
      { ...options, agentsExecutable: executable },
      surroundings,
      { forIso: true },
    );
  }
  const config = await pinnedConfig(ignition, payload, signal);
  requireEmbeddable(parseConfig(config, ignition), await embeddedBytes(config, signal));
  stage(`Copying ${iso}, ${mebibytes(sizes.iso)}`);
  const bytes = await writeLargeFile(output, resolve(iso), signal, async (copy) => {
    stage(`Adding the executable and the payload, ${mebibytes(sizes.files)}`);
    const diskGuid = sha256(config).slice(0, 32);
    await addFiles({ iso: copy, folder: FOLDER, files, diskGuid, signal });
    stage('Embedding the Ignition config, and reading it back');
    await embedIgnition(copy, config, signal);
    await verifyLiveIso(copy, { ...liveIso, config }, signal);
  });
  wrote(output, `${mebibytes(bytes)}, with the secrets of ${ignition}`);
}

/** @throws Failure (usage) for a payload that no host of OpenShift reads */
function requireNoPayload({ payload, dir }: CreateIsoOptions): undefined {
  if (payload === undefined) return undefined;
  throw new Failure('usage', '--payload: not with a config of openshift-install', {
    found: `${join(dir, IGNITION_NAME)} was taken over: OpenShift comes from its release image`,
    fix: 'Leave out --payload; nothing was written.',
  });
}

async function payloadOf({ payload }: CreateIsoOptions, signal: AbortSignal): Promise<Payload> {
  if (payload !== undefined) return readWholePayload(payload, signal);
  throw new Failure('usage', '--payload: missing; nothing was written', {
    fix: 'Name the folder of the payload. Only a config of openshift-install that was taken over (--from-ignition) needs none.',
  });
}

/** The layout that sno-executable.service and the agents expect below /run/media/iso. */
export function filesOf(executable: string, payload: Payload | undefined): AddedFile[] {
  return [
    { source: executable, path: `${FOLDER}/sno-agents`, mode: 0o755 },
    ...(payload === undefined ? [] : filesOfPayload(payload)),
  ];
}

function filesOfPayload(payload: Payload): AddedFile[] {
  const paths = [payloadFile, ...payloadFiles(payload).map(({ path }) => path)];
  return [...new Set(paths)].toSorted().map((path) => ({
    source: join(payload.directory, path),
    path: `${FOLDER}/payload/${path}`,
    mode: 0o644,
  }));
}

export async function readWholePayload(folder: string, signal: AbortSignal): Promise<Payload> {
  const payload = await readPayload(folder);
  const faults = await damagedFiles(payload, signal);
  if (faults.length === 0) return payload;
  throw new Failure(
    'usage',
    [`The payload in ${folder} is damaged; nothing was written`, ...faults].join('\n'),
    { fix: 'Create or copy it again.' },
  );
}

export async function totalSize(files: readonly AddedFile[]): Promise<number> {
  let total = 0;
  for (const { source } of files) {
    const size = await sizeOf(source);
    if (size > MAX_FILE_BYTES) {
      throw new Failure('usage', `${source} is too large for the ISO; nothing was written`, {
        expected: `at most ${MAX_FILE_BYTES} bytes`,
        found: `${size}`,
      });
    }
    total += size;
  }
  return total;
}

const sizeOf = async (path: string) => (await requireRegularFile(path, 'The file')).size;

/** @throws Failure (usage) for what would be added to a config that is made already */
function requireNoAdditions(ignition: string, options: AdditionOptions): void {
  const { butane, ignition: own, settings, set } = options;
  const given = Object.entries({ butane, ignition: own, settings, set });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw new Failure('usage', `--${name} is too late for ${ignition}; nothing was written`, {
    expected: 'no Ignition config yet, or one that was created with this option',
    fix: 'Leave the option out, or move the config, auth/kubeconfig and metadata.json away to create new ones.',
  });
}

/** @throws Failure (usage) unless the executable and the payload are those that the config pins */
async function requireMadeFor(
  ignition: string,
  { cluster, config: { storage } }: MadeIgnition,
  { executable, payload }: { executable: string; payload: Payload | undefined },
  signal: AbortSignal,
): Promise<void> {
  const paths = (storage?.files ?? []).map(({ path }) => path);
  const faults: string[] = [];
  const pins: [path: string, pinned: string | undefined][] = [
    [executable, cluster.executableSha256],
  ];
  if (payload !== undefined) {
    pins.push([join(payload.directory, payloadFile), cluster.payloadSha256]);
  }
  for (const [path, pinned] of pins) {
    const found = await sha256OfFile(path, signal);
    if (pinned !== undefined && found !== pinned) {
      faults.push(`${path} has the SHA-256 ${found}, the Ignition config requires ${pinned}`);
    }
  }
  if (cluster.payloadUrl !== undefined) {
    faults.push(`the Ignition config downloads the payload from ${cluster.payloadUrl}`);
  }
  if (paths.includes(executableByUrlPath())) {
    faults.push('the Ignition config downloads the executable from a URL');
  }
  if (faults.length === 0) return;
  throw new Failure('usage', [`${ignition} was created for another medium`, ...faults].join('\n'), {
    fix: 'Use the ones that it was created for, or move it, auth/kubeconfig and metadata.json away to create new ones.',
  });
}

/**
 * @throws Failure (usage) if install-config.yaml or the manifests changed since the
 *   config was made
 */
async function requireUpToDate(
  ignition: string,
  { cluster, config }: MadeIgnition,
  executable: Pick<AgentsExecutable, 'architecture'>,
  { dir }: CreateIsoOptions,
  { environment, signal }: Surroundings,
): Promise<void> {
  const { settings, user } = await readFolder(dir, environment[DISK_VARIABLE], signal);
  requireConfigured(settings.architecture, executable);
  const changed = changedSince(config, cluster, {
    cluster: clusterOf(settings, cluster.clusterId, cluster.executableSha256),
    pullSecret: settings.pullSecret,
    manifests: user.manifests,
    deferred: user.deferred,
  });
  if (changed.length === 0) return;
  throw new Failure(
    'usage',
    `${ignition} was created from another install-config.yaml or other manifests`,
    {
      found: `changes of ${changed.slice(0, MAX_NAMED).join(', ')}${changed.length > MAX_NAMED ? ' ...' : ''}`,
      fix: 'Undo the changes, or move it, auth/kubeconfig and metadata.json away to create new ones; nothing was written.',
    },
  );
}

interface MadeIgnition {
  readonly config: IgnitionConfig;
  readonly cluster: Cluster;
}

async function readPinned(ignition: string): Promise<MadeIgnition> {
  const config = parseConfig(await readCreated(ignition), ignition);
  const described = clusterFile(config)?.contents;
  const cluster = clusterSchema.safeParse(
    parseJson(described === undefined ? undefined : decodeDataUrl(described).toString('utf8')),
  );
  if (cluster.success) return { cluster: cluster.data, config };
  throw new Failure('usage', `${ignition} was not created by this sno; nothing was written`, {
    fix: 'Move it away.',
  });
}

const clusterFile = ({ storage }: IgnitionConfig) =>
  storage?.files?.find(({ path }) => path === CLUSTER_PATH);

/**
 * The text of the config for the medium, which pins the payload beside it even if
 * the config does not.
 */
async function pinnedConfig(
  ignition: string,
  payload: Payload | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { config, cluster } = await readPinned(ignition);
  const described = clusterFile(config);
  const isPinned = payload === undefined || cluster.payloadSha256 !== undefined;
  if (isPinned || described === undefined) return readCreated(ignition);
  const payloadSha256 = await sha256OfFile(join(payload.directory, payloadFile), signal);
  const contents = clusterContents({ ...cluster, payloadSha256 });
  const files = (config.storage?.files ?? []).map((file) =>
    file === described ? { ...file, contents } : file,
  );
  return serializeConfig({ ...config, storage: { ...config.storage, files } });
}

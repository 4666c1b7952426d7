import { join } from 'node:path';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { parseJson } from '../../lib/base/json.ts';
import { type Cluster, clusterSchema } from '../../lib/config/cluster/cluster.ts';
import { exists } from '../../lib/host/files.ts';
import {
  type IgnitionConfig,
  parseConfig,
  serializeConfig,
} from '../../lib/render/ignition/config.ts';
import { type AgentsExecutable, requireConfigured } from '../agents-executable.ts';
import { DISK_VARIABLE } from '../install-config/disk-variable.ts';
import { INSTALL_CONFIG } from '../install-config/file-name.ts';
import type { Surroundings } from '../surroundings.ts';
import type { AdditionOptions } from './additions.ts';
import { CLUSTER_PATH, changedSince } from './changed-since.ts';
import type { MediumContents } from './live-medium.ts';
import { readFolder } from './read-folder.ts';
import { clusterContents, executableByUrlPath } from './shared-entries.ts';
import { clusterOf, IGNITION_NAME, readCreated } from './single-node-ignition-config.ts';

/** Maximum number of changes that a message names. */
const MAX_NAMED = 10;

/** The Ignition config of a live host that an earlier command created. */
export interface MadeIgnition {
  readonly path: string;
  readonly config: IgnitionConfig;
  readonly cluster: Cluster;
}

/** Of the folder; undefined if there is none yet. */
export async function madeIgnition(dir: string): Promise<MadeIgnition | undefined> {
  const path = join(dir, IGNITION_NAME);
  return (await exists(path)) ? readMade(path) : undefined;
}

async function readMade(path: string): Promise<MadeIgnition> {
  const config = parseConfig(await readCreated(path), path);
  const described = clusterFile(config)?.contents;
  const cluster = clusterSchema.safeParse(
    parseJson(described === undefined ? undefined : decodeDataUrl(described).toString('utf8')),
  );
  if (cluster.success) return { path, cluster: cluster.data, config };
  throw new Failure('usage', `${path} was not created by this sno; nothing was written`, {
    fix: 'Move it away.',
  });
}

const clusterFile = ({ storage }: IgnitionConfig) =>
  storage?.files?.find(({ path }) => path === CLUSTER_PATH);

const isTakenOver = ({ cluster }: MadeIgnition) => cluster.controlPlane === 'openshift';

/** Why the host reads no payload from its medium: a config, in words. Undefined if it does. */
export function withoutPayload(
  made: MadeIgnition | undefined,
): { config: string; because: string } | undefined {
  if (made === undefined) return undefined;
  const { path, cluster } = made;
  if (isTakenOver(made)) {
    return {
      config: 'a config of openshift-install',
      because: `${path} was taken over: OpenShift comes from its release image`,
    };
  }
  if (cluster.payloadUrl === undefined) return undefined;
  return {
    config: 'a config that downloads it',
    because: `the host of ${path} downloads it from ${cluster.payloadUrl}`,
  };
}

/**
 * @throws Failure (usage) unless a config that is there already is for this medium, as the folder is now, and nothing
 *   is to be added to it
 */
export async function requireUsable(
  made: MadeIgnition,
  contents: MediumContents,
  options: AdditionOptions & { dir: string },
  surroundings: Surroundings,
): Promise<void> {
  requireNoAdditions(made.path, options);
  requireMadeFor(made, contents);
  // Of a config that was taken over, the install-config is in the installer's assets.
  if (isTakenOver(made) || !(await exists(join(options.dir, INSTALL_CONFIG)))) return;
  await requireUpToDate(made, contents.executable, options.dir, surroundings);
}

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
function requireMadeFor(
  { path: ignition, cluster, config: { storage } }: MadeIgnition,
  { executable, payload }: MediumContents,
): void {
  const faults: string[] = [];
  const pins = [
    { ...executable, pinned: cluster.executableSha256 },
    ...(payload === undefined ? [] : [{ ...payload, pinned: cluster.payloadSha256 }]),
  ];
  for (const { name, sha256, pinned } of pins) {
    if (pinned !== undefined && sha256 !== pinned) {
      faults.push(`${name} has the SHA-256 ${sha256}, the Ignition config requires ${pinned}`);
    }
  }
  if ((storage?.files ?? []).some(({ path }) => path === executableByUrlPath())) {
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
  { path: ignition, cluster, config }: MadeIgnition,
  executable: Pick<AgentsExecutable, 'architecture'>,
  dir: string,
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

/**
 * The config for the medium, as text and as what it says of the cluster. It pins the payload beside it even if
 * the config in the file does not.
 */
export async function pinnedConfig(
  ignition: string,
  payload: MediumContents['payload'],
): Promise<{ config: string; cluster: Cluster }> {
  const { config, cluster } = await readMade(ignition);
  const described = clusterFile(config);
  const isPinned = payload === undefined || cluster.payloadSha256 !== undefined;
  if (isPinned || described === undefined) return { config: await readCreated(ignition), cluster };
  const contents = clusterContents({ ...cluster, payloadSha256: payload.sha256 });
  const files = (config.storage?.files ?? []).map((file) =>
    file === described ? { ...file, contents } : file,
  );
  return { config: serializeConfig({ ...config, storage: { ...config.storage, files } }), cluster };
}

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Cluster, clusterSchema } from '../../lib/cluster/cluster.ts';
import { Failure } from '../../lib/errors/failure.ts';
import { exists, sha256, sha256OfFile } from '../../lib/host/files.ts';
import { parseConfig } from '../../lib/ignition/config.ts';
import { decodeDataUrl } from '../../lib/ignition/data-url.ts';
import { type Payload, payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { damagedFiles, payloadFiles } from '../../lib/payload/verify.ts';
import { agentsExecutable } from '../executable-digest.ts';
import { type AddedFile, addFiles, MAX_FILE_BYTES } from '../iso/add-files.ts';
import { embedIgnition, readLiveIso, verifyLiveIso } from '../iso/coreos-installer.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import type { Surroundings } from '../surroundings.ts';
import { requireSpace, writeLargeFile } from './large-file.ts';
import { executableByUrlPath } from './live-ignition.ts';
import { requireAbsent } from './outputs.ts';
import {
  createSingleNodeIgnitionConfig,
  IGNITION_NAME,
  readCreated,
} from './single-node-ignition-config.ts';

export interface CreateIsoOptions {
  /** The folder with install-config.yaml or the Ignition config that was made of it. */
  dir: string;
  /** A CoreOS live ISO as it was downloaded; stays as it is. */
  iso: string;
  /** Folder with payload.yaml. */
  payload: string;
  /** The new ISO; by default in `dir`. */
  output?: string;
  agentsExecutable?: string;
  machineConfigServer?: string;
}

/** Where live hosts find what the ISO carries, from the root of the ISO. */
const FOLDER = '/sno-agents';

/**
 * `sno create single-node-iso`: a copy of a live ISO that carries the Ignition config, the
 * executable and the payload, so that a host needs no network to start. Takes the
 * config that lies in the folder, or makes it.
 */
export async function createSingleNodeIso(
  options: CreateIsoOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { dir, iso } = options;
  const { environment, print, signal } = surroundings;
  const output = resolve(options.output ?? join(dir, 'single-node.iso'));
  await requireIsoPrograms(environment);
  await requireAbsent([output], 'Move it away, or name another file with --output.');
  const liveIso = await readLiveIso(resolve(iso), signal);
  const executable = resolve(agentsExecutable(options.agentsExecutable, environment));
  const payload = await readWholePayload(options.payload, signal);
  const files = filesOf(executable, payload);
  await requireSpace(output, (await sizeOf(iso)) + (await totalSize(files)));

  const ignition = join(dir, IGNITION_NAME);
  if (await exists(ignition)) {
    await requireMadeFor(ignition, { executable, payload }, signal);
  } else {
    await createSingleNodeIgnitionConfig(
      { ...options, agentsExecutable: executable },
      surroundings,
    );
  }
  const config = await readCreated(ignition);
  const bytes = await writeLargeFile(output, resolve(iso), signal, async (copy) => {
    const diskGuid = sha256(config).slice(0, 32);
    await addFiles({ iso: copy, folder: FOLDER, files, diskGuid, signal });
    await embedIgnition(copy, config, signal);
    await verifyLiveIso(copy, { ...liveIso, config }, signal);
  });
  print(`Wrote ${output} (${Math.ceil(bytes / 1024 ** 2)} MiB, with the secrets of ${ignition})`);
}

/** The layout that sno-executable.service and bootkube expect below /run/media/iso. */
function filesOf(executable: string, payload: Payload): AddedFile[] {
  const inPayload = [payloadFile, ...payloadFiles(payload).map(({ path }) => path)];
  return [
    { source: executable, path: `${FOLDER}/sno-agents`, mode: 0o755 },
    ...[...new Set(inPayload)].toSorted().map((path) => ({
      source: join(payload.directory, path),
      path: `${FOLDER}/payload/${path}`,
      mode: 0o644,
    })),
  ];
}

async function readWholePayload(folder: string, signal: AbortSignal): Promise<Payload> {
  const payload = await readPayload(folder);
  const faults = await damagedFiles(payload, signal);
  if (faults.length === 0) return payload;
  throw new Failure(
    'usage',
    [`The payload in ${folder} is damaged; nothing was written`, ...faults].join('\n'),
    { fix: 'Make or copy it again.' },
  );
}

async function totalSize(files: readonly AddedFile[]): Promise<number> {
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

async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw new Failure('usage', `${path} cannot be read; nothing was written`, { cause });
  });
  if (stats.isFile()) return stats.size;
  throw new Failure('usage', `${path} is no file; nothing was written`);
}

/** A usage Failure unless the config pins exactly these, where it pins. */
async function requireMadeFor(
  ignition: string,
  { executable, payload }: { executable: string; payload: Payload },
  signal: AbortSignal,
): Promise<void> {
  const { cluster, paths } = await readPinned(ignition);
  const faults: string[] = [];
  const description = join(payload.directory, payloadFile);
  for (const [path, pinned] of [
    [executable, cluster.executableSha256],
    [description, cluster.payloadSha256],
  ] as const) {
    const found = await sha256OfFile(path, signal);
    if (pinned !== undefined && found !== pinned) {
      faults.push(`${path} has the SHA-256 ${found}, the Ignition config wants ${pinned}`);
    }
  }
  if (cluster.payloadUrl !== undefined) {
    faults.push(`the Ignition config has the payload fetched from ${cluster.payloadUrl}`);
  }
  if (paths.includes(executableByUrlPath())) {
    faults.push('the Ignition config has the executable fetched from a URL');
  }
  if (faults.length === 0) return;
  throw new Failure('usage', [`${ignition} was made for another medium`, ...faults].join('\n'), {
    fix: 'Give those that it was made for, or move it and auth/kubeconfig away to make new ones.',
  });
}

async function readPinned(ignition: string): Promise<{ cluster: Cluster; paths: string[] }> {
  const files = parseConfig(await readCreated(ignition), ignition).storage?.files ?? [];
  const described = files.find(({ path }) => path === '/etc/sno-agents/cluster.json')?.contents;
  const cluster = clusterSchema.safeParse(
    described === undefined ? undefined : parseJson(decodeDataUrl(described).toString('utf8')),
  );
  if (cluster.success) return { cluster: cluster.data, paths: files.map(({ path }) => path) };
  throw new Failure('usage', `${ignition} was not made by this sno; nothing was written`, {
    fix: 'Move it away.',
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

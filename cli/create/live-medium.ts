import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { sha256, sha256OfFile } from '../../lib/host/files.ts';
import { requireRegularFile } from '../../lib/host/given-file.ts';
import { type Payload, payloadFile } from '../../lib/payload/payload.ts';
import {
  type AgentsExecutable,
  executablePath,
  readExecutable,
  requireSameArchitecture,
} from '../agents-executable.ts';
import { addFiles } from '../iso/add-files.ts';
import { type LiveIso, readLiveIso } from '../iso/coreos-installer.ts';
import { DESCRIPTION_NAME, descriptionText } from '../iso/medium-description.ts';
import { type AcceptOptions, acceptedPayload } from '../payload/accept.ts';
import { stagesOf } from '../process/stages.ts';
import type { Surroundings } from '../surroundings.ts';
import { mebibytes, requireSpace } from './large-file.ts';
import { FOLDER, filesOf, readWholePayload, sizeOf, totalSize } from './medium-files.ts';

/** What a medium has beside the live system, as an Ignition config pins it. */
export interface MediumContents {
  readonly executable: AgentsExecutable & { readonly name: string };
  readonly payload: { readonly name: string; readonly sha256: string } | undefined;
}

/** The ISO for a live host, before a config is embedded. */
export interface LiveMedium {
  /** The file that is copied. */
  readonly source: string;
  /** What coreos-installer finds in it. */
  readonly liveIso: LiveIso;
  readonly contents: MediumContents;
  /** Of the payload's versions. */
  readonly notices: readonly string[];
  /** Adds to a copy what the source does not have yet. */
  complete(copy: string): Promise<void>;
}

export interface LiveMediumOptions extends AcceptOptions {
  /** A CoreOS live ISO as downloaded; it is not changed. */
  iso: string;
  agentsExecutable?: string;
  /** Folder with payload.yaml. */
  payload?: string;
}

/**
 * Makes a medium of a live ISO, the executable and a payload. Nothing is written before
 * `complete`. @throws Failure (usage) for whatever cannot be on `output`
 */
export async function newMedium(
  { iso, payload: folder, ...options }: LiveMediumOptions,
  output: string,
  surroundings: Surroundings,
): Promise<LiveMedium> {
  const { environment, signal } = surroundings;
  const stage = stagesOf(surroundings);
  const path = executablePath(options.agentsExecutable, environment);
  await requireRegularFile(iso, 'The live ISO');
  const source = resolve(iso);
  const liveIso = await readLiveIso(source, signal);
  const executable = await readExecutable(path, signal);
  if (folder !== undefined) stage('Verifying the payload');
  const payload = folder === undefined ? undefined : await readWholePayload(folder, signal);
  if (payload !== undefined) requireSameArchitecture(executable, payload);
  const notices = payload && (await acceptedPayload(payload, 'install', options, signal));
  const files = filesOf(path, payload);
  const sizes = { iso: await sizeOf(iso), files: await totalSize(files) };
  await requireSpace(output, sizes.iso + sizes.files);

  const pinned = payload && (await pinnedBy(payload, signal));
  const description = descriptionText({
    ...{ version: executable.version, architecture: executable.architecture },
    executableSha256: executable.sha256,
    ...(pinned === undefined ? {} : { payloadSha256: pinned.sha256 }),
  });
  return {
    ...{ source, liveIso, notices: notices ?? [] },
    contents: { executable: { ...executable, name: path }, payload: pinned },
    complete: async (copy) => {
      stage(`Adding the executable and the payload, ${mebibytes(sizes.files)}`);
      await addDescribed(copy, files, description, signal);
    },
  };
}

const pinnedBy = async ({ directory }: Payload, signal: AbortSignal) => {
  const name = join(directory, payloadFile);
  return { name, sha256: await sha256OfFile(name, signal) };
};

/** The GUID of the partition table is that of the contents: media of different sites are the same. */
async function addDescribed(
  iso: string,
  files: ReturnType<typeof filesOf>,
  description: string,
  signal: AbortSignal,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'sno-medium-'));
  try {
    const source = join(work, DESCRIPTION_NAME);
    await writeFile(source, description);
    const described = { source, path: `${FOLDER}/${DESCRIPTION_NAME}`, mode: 0o644 };
    const diskGuid = sha256(description).slice(0, 32);
    await addFiles({ iso, folder: FOLDER, files: [described, ...files], diskGuid, signal });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @throws Failure (usage) for a medium that lacks what the host reads from it, or has what it does not read */
export function requirePayload(
  has: boolean,
  without: { config: string; because: string } | undefined,
  { what, fix }: { what: string; fix: { lacks: string; needless: string } },
): void {
  if (has === (without === undefined)) return;
  if (without === undefined) {
    throw new Failure('usage', `${what}: missing; nothing was written`, { fix: fix.lacks });
  }
  throw new Failure('usage', `${what}: not with ${without.config}`, {
    found: without.because,
    fix: `${fix.needless}; nothing was written.`,
  });
}

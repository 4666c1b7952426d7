import { resolve } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';
import { type Payload, readPayload } from '../../lib/payload/payload.ts';
import type { VersionUse } from '../../lib/payload/supported.ts';
import { MEDIUM_LABEL } from '../../units/aio.ts';
import {
  describeExecutable,
  executablePath,
  readExecutable,
  requireConfigured,
  requireSameArchitecture,
} from '../agents-executable.ts';
import type { InstallSettings } from '../install-config/translate.ts';
import type { AddedFile } from '../iso/add-files.ts';
import { createMedium } from '../iso/create-medium.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { acceptedPayload } from '../payload/accept.ts';
import { stagesOf } from '../process/stages.ts';
import type { Surroundings } from '../surroundings.ts';
import { mebibytes, requireSpace, writeLargeFile } from './large-file.ts';
import { FOLDER, filesOf, readWholePayload, totalSize } from './medium-files.ts';
import { requireAbsent, writeOutputs } from './outputs.ts';
import { type ServedOptions, servedFaults } from './served.ts';
import { pinnedPayload } from './single-node-ignition-config.ts';

/** Where a host that boots from its disk gets the executable and the payload. */
export interface SourceOptions extends ServedOptions {
  agentsExecutable?: string;
  /** The new ISO with the executable and the payload. */
  mediumIso?: string;
}

/** The same, found to be sound. */
export interface HostSources {
  readonly executableSha256: string;
  readonly payload: Pick<Cluster, 'payloadUrl'> & { readonly payloadSha256: string };
  readonly medium: Medium | undefined;
  /** Of the payload's versions. */
  readonly payloadNotices: readonly string[];
}

/** An ISO to be written. */
interface Medium {
  readonly path: string;
  readonly files: readonly AddedFile[];
  /** What it has, for whoever stores it. Default: no secrets. */
  readonly secrets?: string;
}

type Attempt = <T>(body: () => Promise<T>) => Promise<T | undefined>;

/** Runs a check, which returns undefined after a fault: that is added to the others and reported with them. */
export const attempting =
  (faults: string[]): Attempt =>
  async (body) => {
    try {
      return await body();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
      faults.push(describeError(error));
      return undefined;
    }
  };

/** What the payload is for. */
export interface ExpectedPayload {
  readonly architecture: InstallSettings['architecture'];
  readonly use: VersionUse;
}

/** Undefined after a fault. `optionFaults` reports those of the options alone. */
export async function inspectSources(
  options: SourceOptions,
  { architecture, use }: ExpectedPayload,
  attempt: Attempt,
  { environment, signal }: Pick<Surroundings, 'environment' | 'signal'>,
): Promise<HostSources | undefined> {
  const { mediumIso, payload: folder } = options;
  const executable = await attempt(async () =>
    mediumIso === undefined
      ? describeExecutable(options.agentsExecutable, environment, signal)
      : readExecutable(executablePath(options.agentsExecutable, environment), signal),
  );
  if (executable !== undefined && folder === undefined) {
    // Of a payload that is given, both are compared with it.
    await attempt(async () => requireConfigured(architecture, executable));
  }
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
  const payloadNotices =
    payload && (await attempt(() => acceptedPayload(payload, use, options, signal)));
  const medium =
    mediumIso === undefined || payload === undefined
      ? undefined
      : await attempt(() => mediumOf(mediumIso, payload, options, environment));
  const { payloadSha256, payloadUrl } = pinned ?? {};
  if (executable === undefined || payloadSha256 === undefined) return undefined;
  return {
    executableSha256: executable.sha256,
    payload: { payloadSha256, ...(payloadUrl === undefined ? {} : { payloadUrl }) },
    medium,
    payloadNotices: payloadNotices ?? [],
  };
}

/** Writes the outputs and the medium, or nothing. */
export async function writeAll(
  outputs: Parameters<typeof writeOutputs>[0],
  medium: Medium | undefined,
  surroundings: Surroundings,
): Promise<void> {
  const { wrote, signal } = surroundings;
  if (medium === undefined) return writeOutputs(outputs);
  stagesOf(surroundings)(`Writing ${medium.path}, ${mebibytes(await totalSize(medium.files))}`);
  const bytes = await writeLargeFile(medium.path, undefined, signal, async (iso) => {
    const request = { iso, label: MEDIUM_LABEL, folder: FOLDER, files: medium.files };
    await createMedium({ ...request, signal });
    await writeOutputs(outputs);
  });
  wrote(medium.path, `${mebibytes(bytes)}, ${medium.secrets ?? 'without secrets'}`);
}

/** Where the host gets the executable and the payload: both by URL, or both from a medium. */
export function optionFaults(options: SourceOptions): string[] {
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
  { agentsExecutable }: SourceOptions,
  environment: Surroundings['environment'],
): Promise<Medium> {
  const path = resolve(iso);
  await requireIsoPrograms(environment, ['xorriso']);
  await requireAbsent([path], 'Move it away, or use another file with --medium-iso.');
  const files = filesOf(executablePath(agentsExecutable, environment), payload);
  await requireSpace(path, await totalSize(files));
  return { path, files };
}

import { chmod } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { builtVersion } from '../../lib/base/version.ts';
import { sha256OfAnyFile } from '../../lib/host/digests.ts';
import { readLiveIso, requireSameArguments } from '../iso/coreos-installer.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { readSharedIso, type SharedIso } from '../iso/shared-iso.ts';
import { stagesOf } from '../process/stages.ts';
import type { Surroundings } from '../surroundings.ts';
import { canShareBlocks, mebibytes, requireSpace, writeLargeFile } from './large-file.ts';
import { type LiveMedium, type LiveMediumOptions, newMedium } from './live-medium.ts';
import { EXECUTABLE_PATH, FOLDER, PAYLOAD_FOLDER, sizeOf } from './medium-files.ts';
import { requireAbsent } from './outputs.ts';

export interface SharedIsoOptions extends LiveMediumOptions {
  /** The new ISO. */
  output: string;
}

/**
 * `sno create shared-iso`: a copy of a live ISO with the executable and the payload, without a config and without secrets.
 * All sites use it: the same inputs give the same bytes. Readable by everybody (0644).
 */
export async function createSharedIso(
  options: SharedIsoOptions,
  surroundings: Surroundings,
): Promise<void> {
  const { environment, wrote, print, notice, signal } = surroundings;
  const output = resolve(options.output);
  const stage = stagesOf(surroundings);
  await requireIsoPrograms(environment);
  await requireAbsent([output], 'Move it away, or use another file with --output.');
  const medium = await newMedium(options, output, surroundings);
  const { source, liveIso, contents } = medium;
  stage(`Copying ${options.iso}, ${mebibytes(await sizeOf(source))}`);
  const bytes = await writeLargeFile(output, source, signal, async (copy) => {
    await medium.complete(copy);
    stage('Reading it back');
    requireSameArguments(await readLiveIso(copy, signal), liveIso);
    await readSharedIso(copy, LAYOUT, signal);
    await chmod(copy, 0o644);
  });
  wrote(output, `${mebibytes(bytes)}, without secrets`);
  print(`Its SHA-256: ${await sha256OfAnyFile(output, signal)}`);
  for (const text of medium.notices) notice(text);
  if (contents.payload === undefined) notice(NO_PAYLOAD);
}

const NO_PAYLOAD = 'it has no payload: for configs with --payload-url, or of openshift-install';

/** Where `sno create shared-iso` puts things. */
export const LAYOUT = { folder: FOLDER, executable: EXECUTABLE_PATH, payload: PAYLOAD_FOLDER };

/**
 * A medium of a shared ISO, of which a copy needs nothing more. @throws Failure (usage) unless it is one of this release, and there is
 * room for a copy
 */
export async function sharedMedium(
  shared: string,
  output: string,
  { notice, signal }: Pick<Surroundings, 'notice' | 'signal'>,
): Promise<LiveMedium> {
  const described = await describeShared(shared, signal);
  const { source } = described;
  const bytes = await sizeOf(source);
  const isShared = await canShareBlocks(source, output, signal);
  await requireSpace(output, isShared ? 0 : bytes);
  if (!isShared) notice(`${output} ${noSharing(source, bytes)}`);
  return { ...described, notices: [], complete: async () => undefined };
}

/** What a shared ISO has. @throws Failure (usage) unless it is one of this release */
export async function describeShared(
  shared: string,
  signal: AbortSignal,
): Promise<Pick<LiveMedium, 'source' | 'liveIso' | 'contents'>> {
  const source = resolve(shared);
  const { liveIso, medium } = await readSharedIso(source, LAYOUT, signal);
  requireSameRelease(source, medium);
  const { architecture, executableSha256, payloadSha256 } = medium;
  const name = (what: string) => `${what} on ${source}`;
  return {
    ...{ source, liveIso },
    contents: {
      executable: { name: name('the executable'), sha256: executableSha256, architecture },
      payload:
        payloadSha256 === undefined
          ? undefined
          : { name: name('the payload'), sha256: payloadSha256 },
    },
  };
}

const noSharing = (source: string, bytes: number) =>
  `takes ${mebibytes(bytes)}: its file system does not share blocks with ${source}. On one XFS or Btrfs, it would take less than 1 MiB`;

function requireSameRelease(path: string, { version }: SharedIso['medium']): void {
  if (builtVersion === undefined || version === builtVersion) return;
  throw new Failure('usage', `${path} is from another release; nothing was written`, {
    expected: `sno-agents ${builtVersion}, as this sno`,
    found: `sno-agents ${version}`,
    fix: 'Create the shared ISO again with this sno, or use the sno of that release.',
  });
}

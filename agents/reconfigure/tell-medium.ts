import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../lib/base/errors/failure.ts';
import { type FailureData, failureData } from '../../lib/base/errors/failure-data.ts';
import { productVersion } from '../../lib/base/version.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { kubeconfigPath, mediumFolder } from '../../lib/change/site/places.ts';
import { type ReconfigureResult, siteChange } from '../../lib/change/site/request.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { exists, readTextIfPresent, sha256 } from '../../lib/host/files.ts';
import { findMedia, type Medium } from '../../lib/host/media/find-media.ts';
import type { Overwritten } from '../../lib/host/media/in-place/overwrite.ts';
import { READABLE } from '../../lib/host/media/read-medium.ts';
import { copyMedium } from '../../lib/host/media/read-unprivileged.ts';
import { overwriteMedium } from '../../lib/host/media/write-unprivileged.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { MAX_VOLUME_MANIFEST_BYTES } from '../../lib/relocation/site-volume/manifest.ts';
import { readVolumeFile } from '../../lib/relocation/site-volume/read-file.ts';
import {
  codeLine,
  RESULT_FILES,
  ROOM_BYTES,
  resultFile,
  resultPage,
  resultText,
  resultWithDetails,
  type Told,
} from '../../lib/relocation/site-volume/result.ts';
import {
  VOLUME_FILES,
  VOLUME_LABELS,
  VOLUME_LIMITS,
} from '../../lib/relocation/site-volume/volume.ts';
import { readRenderInput } from '../../lib/render/render-input.ts';
import { MOST_OTHERS, READ_OTHER_MS } from './inserted.ts';
import { resultEncrypter } from './result-recipient.ts';

/*
 * What a volume is told: how it went, in the room that "sno create site-volume" left for it. Only a volume whose signature
 * was verified (or that the factory takes without one) is written to. It is a courtesy: nothing fails without it,
 * and each function returns why nothing was written, for the journal.
 */

const TELL_MS = 60_000;

/** Writes why the volume was refused. @param serial of the volume, which is trusted */
export async function tellRefusal(
  paths: HostPaths,
  medium: Medium,
  refusal: { readonly error: unknown; readonly serial: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { error, serial } = refusal;
  const failure = failureData(error);
  return written(medium, async () => {
    const [text, page] = await verdictOf(paths, { serial, endedAt: undefined, failure });
    const present = await readVolumeFile(mediumFolder(paths), text.name, text.contents.length);
    // udev has the host look at a medium again that was written to; a reason may name the time of the day.
    if (present?.includes(codeLine(failure)) === true) return;
    await tell(paths, medium, [text, page], signal);
  });
}

/** How its last use ended. The medium's files are in the folder for them. */
export async function tellEnd(
  paths: HostPaths,
  medium: Medium,
  last: ReconfigureResult,
  signal: AbortSignal,
): Promise<string | undefined> {
  return written(medium, async () => {
    const { outcome, endedAt, volume, failure } = last;
    const isDone = outcome === 'configured';
    const verdict = await verdictOf(paths, {
      serial: volume.serial,
      endedAt,
      failure: isDone ? undefined : (failure ?? failureData(new Error('no reason is known'))),
    });
    const more = isDone ? await kubeconfigOf(paths) : [];
    await tell(paths, medium, [...verdict, ...more], signal);
  });
}

/** After a run: the volume that it was about, if it is in a drive still. */
export async function tellLast(paths: HostPaths): Promise<string | undefined> {
  const time = { signal: AbortSignal.timeout(TELL_MS), deadlineMs: TELL_MS };
  const last = await siteChange.last(paths);
  if (last === undefined || (await siteChange.read(paths)) !== undefined) return undefined;
  try {
    const medium = await mediumOf(paths, last, time);
    return medium && (await tellEnd(paths, medium, last, time.signal));
  } catch (error) {
    return describeError(error);
  } finally {
    await rm(mediumFolder(paths), { recursive: true, force: true });
  }
}

/** The medium with the volume that was used, if it can be told. Its files are then in the folder for them. */
async function mediumOf(
  paths: HostPaths,
  last: ReconfigureResult,
  time: Limits,
): Promise<Medium | undefined> {
  const { labelled, others } = await findMedia(paths, VOLUME_LABELS, time.signal);
  const [only, second] = labelled;
  if (second !== undefined) return undefined;
  if (only !== undefined) return (await isOf(paths, only, last, time)) ? only : undefined;
  const limits = { ...time, deadlineMs: READ_OTHER_MS };
  for (const medium of others.slice(0, MOST_OTHERS)) {
    // Whatever else somebody has connected.
    const isIt = isOf(paths, medium, last, limits).catch(() => time.signal.throwIfAborted());
    if ((await isIt) === true) return medium;
  }
  return undefined;
}

async function isOf(
  paths: HostPaths,
  medium: Medium,
  { volume }: ReconfigureResult,
  time: Limits,
): Promise<boolean> {
  if (medium.isReadOnly || !READABLE.includes(medium.fileSystem)) return false;
  const folder = mediumFolder(paths);
  await copyMedium(paths, medium, folder, VOLUME_LIMITS, time);
  const manifest = await readVolumeFile(folder, VOLUME_FILES.manifest, MAX_VOLUME_MANIFEST_BYTES);
  // Its signature was verified when it was accepted.
  return manifest !== undefined && sha256(manifest) === volume.sha256;
}

async function written(
  { isReadOnly }: Medium,
  write: () => Promise<void>,
): Promise<string | undefined> {
  if (isReadOnly) return undefined;
  try {
    await write();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** Only what differs: each write makes udev look at the medium again. */
async function tell(
  paths: HostPaths,
  medium: Medium,
  files: readonly Overwritten[],
  signal: AbortSignal,
): Promise<void> {
  const differing: Overwritten[] = [];
  for (const file of files) {
    const present = await readVolumeFile(mediumFolder(paths), file.name, file.contents.length);
    if (present !== undefined && !present.equals(file.contents)) differing.push(file);
  }
  if (differing.length === 0) return;
  await overwriteMedium(paths, medium, differing, { signal, deadlineMs: TELL_MS });
}

/** For a program that shows text, and for a browser. */
async function verdictOf(
  paths: HostPaths,
  told: Pick<Told, 'serial' | 'endedAt' | 'failure'>,
): Promise<[text: Overwritten, page: Overwritten]> {
  const known = await readRenderInput(paths);
  const encrypted = await isEncrypted(paths);
  const all = {
    ...told,
    cluster:
      told.failure === undefined && !encrypted && known ? clusterDomain(known.cluster) : undefined,
    node: known?.host.hostname ?? 'unknown',
    version: productVersion,
  };
  const isShort = told.failure !== undefined && encrypted;
  const shown = isShort ? { ...all, failure: withoutDetails(told.failure) } : all;
  const text = resultText(shown);
  // A volume that was refused has kept nothing here.
  const encrypter =
    isShort && told.endedAt !== undefined ? await resultEncrypter(paths) : undefined;
  const page = resultFile(RESULT_FILES.page, resultPage(shown));
  if (encrypter === undefined) return [resultFile(RESULT_FILES.text, text), page];
  const present = await readVolumeFile(mediumFolder(paths), RESULT_FILES.text, ROOM_BYTES);
  const details = { text, details: resultText(all), encrypter };
  return [await resultWithDetails(details, present), page];
}

const isEncrypted = (paths: HostPaths): Promise<boolean> =>
  exists(join(mediumFolder(paths), VOLUME_FILES.encrypted));

/** The person who encrypted the volume does not want the site's addresses on it. */
const withoutDetails = (failure: FailureData | undefined): FailureData | undefined =>
  failure && {
    code: failure.code,
    kind: failure.kind,
    what: failure.what,
    fix: 'Read the console of the node: it says more.',
  };

/** For a volume whose request everybody may read, and so may read what was signed. It contains no key. */
async function kubeconfigOf(paths: HostPaths): Promise<Overwritten[]> {
  const folder = mediumFolder(paths);
  const request = await readVolumeFile(folder, VOLUME_FILES.adminRequest, VOLUME_LIMITS.bytes);
  const text = await readTextIfPresent(kubeconfigPath(paths));
  if (request === undefined || text === undefined) return [];
  return [resultFile(RESULT_FILES.kubeconfig, text)];
}

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { mediumFolder } from '../../lib/change/site/places.ts';
import { exists } from '../../lib/host/files.ts';
import { findMedia, type Medium } from '../../lib/host/media/find-media.ts';
import { READABLE } from '../../lib/host/media/read-medium.ts';
import { copyMedium } from '../../lib/host/media/read-unprivileged.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { refused } from '../../lib/relocation/site-volume/refused.ts';
import {
  VOLUME_FILES,
  VOLUME_LABELS,
  VOLUME_LIMITS,
} from '../../lib/relocation/site-volume/volume.ts';

const READ_MS = 120_000;
/** Sticks without the label: each is read by a process of its own. */
const MOST_OTHERS = 4;
/** Names of file systems, as they are called where sticks are formatted. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  exfat: 'exFAT',
  ntfs: 'NTFS',
  hfsplus: 'Mac OS Extended',
  apfs: 'APFS',
};

/** A volume, or for each stick why it is none, in one sentence with what to do. */
export type Inserted =
  | { readonly kind: 'volume'; readonly medium: Medium }
  | { readonly kind: 'none'; readonly notes: readonly string[] };

/**
 * The volume that is inserted; its files are then in the folder of media. A label decides at once; without one, a stick
 * with the files of a volume is as good: it is judged by its signature.
 *
 * @throws Failure (usage, `medium-refused`) for two volumes, and for a labelled medium that cannot be read
 */
export async function insertedVolume(paths: HostPaths, signal: AbortSignal): Promise<Inserted> {
  const { labelled, others } = await findMedia(paths, VOLUME_LABELS, signal);
  const [medium, another] = labelled;
  if (another !== undefined) throw severalVolumes(labelled);
  if (medium !== undefined) {
    await readVolume(paths, medium, signal);
    return { kind: 'volume', medium };
  }
  const volumes: Medium[] = [];
  const notes: string[] = [];
  for (const other of others.slice(0, MOST_OTHERS)) {
    const note = await whyNone(paths, other, signal);
    if (note === undefined) volumes.push(other);
    else notes.push(note);
  }
  const [only, second] = volumes;
  if (second !== undefined) throw severalVolumes(volumes);
  if (only === undefined) return { kind: 'none', notes };
  // Another stick may have been read after it.
  if (others.length > 1) await readVolume(paths, only, signal);
  return { kind: 'volume', medium: only };
}

async function whyNone(
  paths: HostPaths,
  medium: Medium,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { device, fileSystem } = medium;
  if (!READABLE.includes(fileSystem)) {
    return `The stick in ${device} is formatted as ${KNOWN_AS[fileSystem] ?? fileSystem}, which this host does not read. Format it as FAT32, copy the files of the site volume to it, and insert it again.`;
  }
  try {
    await readVolume(paths, medium, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return `The stick in ${device} is not used: ${describeError(error)}`;
  }
}

/** Copies the files of a medium. @throws Failure (usage) if there are none of a volume, or it was pulled out */
async function readVolume(paths: HostPaths, medium: Medium, signal: AbortSignal): Promise<void> {
  const folder = mediumFolder(paths);
  await rm(folder, { recursive: true, force: true });
  try {
    await copyMedium(paths, medium, folder, VOLUME_LIMITS, { signal, deadlineMs: READ_MS });
  } catch (error) {
    signal.throwIfAborted();
    throw (await isInserted(paths, medium, signal)) ? error : pulledOut(medium);
  }
  if (await exists(join(folder, VOLUME_FILES.manifest))) return;
  const found = await folderOfVolume(folder);
  if (found !== undefined) throw tooDeep(found);
  throw refused(`the volume has no ${VOLUME_FILES.manifest}`, {
    fix: 'Nothing was changed. Write the medium with "sno create site-volume": a bare site-config.yaml is not used.',
  });
}

async function isInserted(
  paths: HostPaths,
  { device, inserted }: Medium,
  signal: AbortSignal,
): Promise<boolean> {
  const { labelled, others } = await findMedia(paths, VOLUME_LABELS, signal);
  return [...labelled, ...others].some(
    (each) => each.device === device && each.inserted === inserted,
  );
}

/** One level below the top, as by a person who has copied the folder instead of what is in it. */
async function folderOfVolume(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    if (await exists(join(folder, entry.name, VOLUME_FILES.manifest))) return entry.name;
  }
  return undefined;
}

const tooDeep = (name: string): Failure =>
  refused('the files of the volume are in a folder of the medium', {
    expected: `${VOLUME_FILES.manifest} at its top`,
    found: name,
    fix: `Move everything that is in the folder ${name} to the top of the medium, and insert it again.`,
  });

const pulledOut = ({ device }: Medium): Failure =>
  new Failure('usage', 'the medium was pulled out before it was read', {
    code: 'medium-refused',
    found: `nothing in ${device}`,
    fix: 'Insert it again, and leave it until the screen shows the next step.',
  });

const severalVolumes = (media: readonly Medium[]): Failure =>
  new Failure('usage', 'more than one site volume is inserted', {
    code: 'medium-refused',
    expected: 'one',
    found: media.map(({ device, label }) => `${label || 'a volume'} in ${device}`).join(', '),
    fix: 'Remove all but one, and insert that one again.',
  });

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { failureData } from '../../lib/base/errors/failure-data.ts';
import { mediumFolder } from '../../lib/change/site/places.ts';
import { exists } from '../../lib/host/files.ts';
import { type FoundMedia, findMedia, type Medium } from '../../lib/host/media/find-media.ts';
import { READABLE } from '../../lib/host/media/read-medium.ts';
import { copyMedium } from '../../lib/host/media/read-unprivileged.ts';
import { type HostPaths, sealedPath } from '../../lib/host/paths.ts';
import { refused } from '../../lib/relocation/site-volume/refused.ts';
import {
  VOLUME_FILES,
  VOLUME_LABELS,
  VOLUME_LIMITS,
} from '../../lib/relocation/site-volume/volume.ts';

const READ_MS = 120_000;
/** Of a medium without the label, which may be anything; a slow host takes ten seconds until its reader has started. */
export const READ_OTHER_MS = 30_000;
/** Each is read by a process of its own; the time of all is part of that of the unit. */
export const MOST_OTHERS = 3;
/** Names of the file systems that sticks are sold or formatted with, as they are called there. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  exfat: 'exFAT',
  ntfs: 'NTFS',
  hfsplus: 'Mac OS Extended',
  apfs: 'APFS',
};

/** Why a medium holds no volume, and what to do. */
export interface StickNote {
  /** For whoever stands before the screen: what is wrong, and the one thing to do. */
  readonly screen: string;
  /** For support, with what was found. */
  readonly journal: string;
}

/** A volume; or, for each medium, why it holds none. */
export type Inserted =
  | { readonly kind: 'volume'; readonly medium: Medium }
  | {
      readonly kind: 'none';
      readonly notes: readonly StickNote[];
      readonly seen: readonly string[];
    };

/**
 * The volume that is inserted; its files are then in the folder of media. A label decides at once. While the host waits for
 * its site, a medium on USB without one is as good: the volume is judged by its signature. Later, what is inserted is
 * somebody's own.
 *
 * @throws Failure (usage, `medium-refused`) for two volumes, and for a labelled medium that cannot be read
 */
export async function insertedVolume(paths: HostPaths, signal: AbortSignal): Promise<Inserted> {
  const found = await findMedia(paths, VOLUME_LABELS, signal);
  const [medium, another] = found.labelled;
  if (another !== undefined) throw severalVolumes(found.labelled);
  if (medium !== undefined) {
    const otherwise = formattedAs(medium);
    if (otherwise !== undefined) throw notReadable(otherwise);
    await readVolume(paths, medium, READ_MS, signal);
    return { kind: 'volume', medium };
  }
  const others = (await exists(sealedPath(paths))) ? found.others.slice(0, MOST_OTHERS) : [];
  const volumes: Medium[] = [];
  const notes: StickNote[] = [];
  for (const other of others) {
    const note = await whyNone(paths, other, signal);
    if (note === 'volume') volumes.push(other);
    else if (note !== undefined) notes.push(note);
  }
  const [only, second] = volumes;
  if (second !== undefined) throw severalVolumes(volumes);
  if (only === undefined) return { kind: 'none', notes, seen: idsOf(found) };
  // Another one may have been read after it.
  if (others.length > 1) await readVolume(paths, only, READ_OTHER_MS, signal);
  return { kind: 'volume', medium: only };
}

/** Whether something was inserted since: udev cannot start a unit that is at work. */
export async function isMoreInserted(
  paths: HostPaths,
  seen: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const found = await findMedia(paths, VOLUME_LABELS, signal);
  return idsOf(found).some((id) => !seen.includes(id));
}

const idsOf = ({ labelled, others }: FoundMedia): string[] =>
  [...labelled, ...others].map(({ device, inserted }) => `${device} ${inserted}`);

/** Undefined for what a person would not take for a stick. */
async function whyNone(
  paths: HostPaths,
  medium: Medium,
  signal: AbortSignal,
): Promise<'volume' | StickNote | undefined> {
  if (!READABLE.includes(medium.fileSystem)) {
    const otherwise = formattedAs(medium);
    const screen = `The ${otherwise}. ${TO_FAT32}`;
    return otherwise === undefined ? undefined : { screen, journal: screen };
  }
  try {
    await readVolume(paths, medium, READ_OTHER_MS, signal);
    return 'volume';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return noteOf(medium, error);
  }
}

function noteOf({ device }: Medium, failure: Failure): StickNote {
  const { code, what, found = what, fix } = failureData(failure);
  if (code !== 'medium-refused') {
    const advice = fix === undefined ? '' : ` ${fix}`;
    return {
      screen: `The stick in ${device}: ${what}.${advice}`,
      journal: `The stick in ${device}: ${describeError(failure)}`,
    };
  }
  const unread = `The stick in ${device} cannot be read as a site volume`;
  return { screen: `${unread}. ${TO_EMPTY}`, journal: `${unread}: ${found}` };
}

const TO_EMPTY = 'Copy the files of the site volume to an empty stick, and insert that one.';

const TO_FAT32 =
  'Copy the files of the site volume to a stick that is formatted as FAT32, and insert that one.';

/** Undefined for a file system that this host reads, and for what no stick is formatted with. */
function formattedAs({ device, fileSystem }: Medium): string | undefined {
  const name = Object.hasOwn(KNOWN_AS, fileSystem) ? KNOWN_AS[fileSystem] : undefined;
  return name && `stick in ${device} is formatted as ${name}, which this host does not read`;
}

const notReadable = (otherwise: string): Failure =>
  new Failure('usage', `the ${otherwise}`, { code: 'medium-refused', fix: TO_FAT32 });

/** Copies the files of a medium. @throws Failure (usage) if they hold no volume, or the medium was pulled out */
async function readVolume(
  paths: HostPaths,
  medium: Medium,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  const folder = mediumFolder(paths);
  await rm(folder, { recursive: true, force: true });
  try {
    await copyMedium(paths, medium, folder, VOLUME_LIMITS, { signal, deadlineMs });
  } catch (error) {
    signal.throwIfAborted();
    const present = idsOf(await findMedia(paths, VOLUME_LABELS, signal));
    if (present.includes(`${medium.device} ${medium.inserted}`)) throw error;
    throw pulledOut(medium);
  }
  if (await exists(join(folder, VOLUME_FILES.manifest))) return;
  const found = await folderOfVolume(folder);
  if (found !== undefined) throw tooDeep(found);
  throw refused(`the volume has no ${VOLUME_FILES.manifest}`, {
    fix: 'Nothing was changed. Insert the stick that you got for this site. It is written with "sno create site-volume": a bare site-config.yaml is not used.',
  });
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
  refused('the files of the volume are in a folder of the stick', {
    expected: `${VOLUME_FILES.manifest} at its top level`,
    found: name,
    fix: `Move everything that is in the folder ${name} to the top level of the stick, and insert it again.`,
  });

const pulledOut = ({ device }: Medium): Failure =>
  refused('the medium was pulled out before it was read', {
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

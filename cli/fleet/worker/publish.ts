import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  exists,
  ifMissing,
  namesIn,
  removeFile,
  sha256OfFile,
  syncDirectory,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import { writeMedium } from '../../site/write-medium.ts';
import type { Kept, StoredKept } from './kept.ts';

export interface PublishOptions {
  readonly publish?: string;
  readonly publishUrl?: string;
}

/** A folder, and where a web server shows it. */
export interface Published {
  readonly dir: string;
  readonly url: string | undefined;
}

/** A web server runs as another user. */
const SERVED = 0o644;

/** @throws Failure (usage) for options that cannot be used; (retry) if the folder is not there: it may be mounted later */
export async function publishedPlace({ publish, publishUrl }: PublishOptions): Promise<Published> {
  if (publish === undefined) {
    throw new Failure('usage', '--publish is missing', {
      expected: 'the folder that a web server shows, or from which a person copies',
    });
  }
  if (publishUrl !== undefined && !/^https?:$/.test(URL.parse(publishUrl)?.protocol ?? '')) {
    throw new Failure('usage', '--publish-url is no address of a web server', {
      expected: 'http:// or https://',
    });
  }
  const isFolder = (await stat(publish).catch(ifMissing))?.isDirectory() === true;
  if (isFolder) return { dir: publish, url: publishUrl };
  throw new Failure('retry', `${publish} is not a folder`, {
    fix: 'Mount or create it, and run this command again.',
  });
}

/** Where the ISO is for others. */
export const addressOf = ({ url }: Published, { iso }: Pick<Kept, 'iso'>): string | undefined =>
  url === undefined ? undefined : `${url.replace(/\/+$/, '')}/${iso}.iso`;

const isoPath = ({ dir }: Published, iso: string) => join(dir, `${iso}.iso`);

/**
 * Publishes the volume of a serial. What has appeared once stays the same: a node does not take another volume with the
 * serial of one that it has used.
 *
 * @param make the files of a volume
 * @param keep records the digest before anybody sees the ISO
 */
export async function publishIso(
  place: Published,
  kept: StoredKept,
  {
    make,
    keep,
    signal,
  }: {
    readonly make: () => Promise<ReadonlyMap<string, Uint8Array>>;
    readonly keep: (sha256: string) => Promise<StoredKept>;
    readonly signal: AbortSignal;
  },
): Promise<StoredKept> {
  const path = isoPath(place, kept.iso);
  if (kept.sha256 !== undefined && (await exists(path))) {
    if ((await sha256OfFile(path, signal)) === kept.sha256) return kept;
  }
  await removeUnfinished(place, kept.iso);
  const beside = join(place.dir, `.${kept.iso}.${randomBytes(4).toString('hex')}`);
  try {
    await writeMedium({ kind: 'iso', path: beside }, await make(), signal, async () => {});
    await chmod(beside, SERVED);
    const stored = await keep(await sha256OfFile(beside, signal));
    await rename(beside, path);
    await syncDirectory(place.dir);
    return stored;
  } finally {
    await rm(beside, { force: true });
  }
}

/** The same file under the names that nodes ask for. */
export async function publishAsked(place: Published, { iso, asked }: Kept): Promise<void> {
  const contents = await readFile(isoPath(place, iso));
  for (const name of asked) {
    const path = join(place.dir, name);
    const present = await readFile(path).catch(ifMissing);
    if (present?.equals(contents) !== true) await writeFileAtomic(path, contents, SERVED);
  }
}

/** Nobody needs them any more, and they may have secrets. What another Site of the machine has published since stays. */
export async function withdraw(
  place: Published,
  { iso, asked, sha256 }: Kept,
  signal: AbortSignal,
): Promise<void> {
  for (const name of asked) {
    const path = join(place.dir, name);
    const isOwn = (await exists(path)) && (await sha256OfFile(path, signal)) === sha256;
    if (isOwn) await removeFile(path);
  }
  await removeFile(isoPath(place, iso));
  await removeUnfinished(place, iso);
}

/** What a killed run has left. */
async function removeUnfinished({ dir }: Published, iso: string): Promise<void> {
  const unfinished = (await namesIn(dir)).filter((name) => /^\.+/.test(name) && name.includes(iso));
  for (const name of unfinished) await removeFile(join(dir, name));
}

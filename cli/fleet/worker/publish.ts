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
 * Publishes the ISO of a serial. What has appeared once stays the same: a node does not take another volume with the
 * serial of one that it has used.
 *
 * @param write writes it to a path where nobody looks for it
 * @param digestOf by which one with that path is known again
 * @param keep records the digest before anybody sees the ISO
 */
export async function publishIso(
  place: Published,
  kept: StoredKept,
  {
    write,
    digestOf,
    keep,
  }: {
    readonly write: (path: string) => Promise<void>;
    readonly digestOf: (path: string) => Promise<string>;
    readonly keep: (digest: string) => Promise<StoredKept>;
  },
): Promise<StoredKept> {
  const path = isoPath(place, kept.iso);
  if (kept.sha256 !== undefined && (await exists(path))) {
    if ((await digestOf(path)) === kept.sha256) return kept;
  }
  await removeUnfinished(place, kept.iso);
  const beside = join(place.dir, `.${kept.iso}.${randomBytes(4).toString('hex')}`);
  try {
    await write(beside);
    await chmod(beside, SERVED);
    const stored = await keep(await digestOf(beside));
    await rename(beside, path);
    await syncDirectory(place.dir);
    return stored;
  } finally {
    await rm(beside, { force: true });
  }
}

/** Where the config of a live host is, of which its ISO has the address alone. */
export const configName = ({ iso }: Pick<Kept, 'iso'>) => `${iso}.ign`;

export const publishConfig = (place: Published, kept: Kept, text: string): Promise<void> =>
  writeFileAtomic(join(place.dir, configName(kept)), text, SERVED);

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
  kept: Pick<Kept, 'iso' | 'asked' | 'sha256'>,
  signal: AbortSignal,
): Promise<void> {
  const { iso, asked, sha256 } = kept;
  for (const name of asked) {
    const path = join(place.dir, name);
    const isOwn = (await exists(path)) && (await sha256OfFile(path, signal)) === sha256;
    if (isOwn) await removeFile(path);
  }
  await removeFile(join(place.dir, configName(kept)));
  await removeFile(isoPath(place, iso));
  await removeUnfinished(place, iso);
}

/** What a killed run has left. */
async function removeUnfinished({ dir }: Published, iso: string): Promise<void> {
  const unfinished = (await namesIn(dir)).filter((name) => /^\.+/.test(name) && name.includes(iso));
  for (const name of unfinished) await removeFile(join(dir, name));
}

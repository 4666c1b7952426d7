import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { decompressed } from '../../lib/payload/image/compression.ts';
import { isSafeName } from '../../report/archive/names.ts';
import {
  type ArchivedFile,
  type ArchiveLimits,
  readArchive,
} from '../../report/archive/read-archive.ts';
import type { OpenableArchive } from './encrypted-archive.ts';
import { LoadedBundle } from './loaded-bundle.ts';

const LIMITS: ArchiveLimits = { entries: 200_000, fileBytes: 4 * 2 ** 30, bytes: 16 * 2 ** 30 };
const MAX_DEPTH = 12;

/** Whether a path is an archive or a folder. @throws Failure (usage) if it is neither */
export async function kindOf(path: string): Promise<'archive' | 'folder'> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new Failure('usage', `${path} cannot be read`, { cause });
  });
  if (found.isDirectory()) return 'folder';
  if (found.isFile()) return 'archive';
  throw notBundle(path, 'neither a regular file nor a folder');
}

/**
 * Loads a log bundle from its .tar.gz, complete or truncated. @throws Failure
 * (usage) if it is none
 */
export async function loadArchive(
  archive: OpenableArchive,
  signal: AbortSignal,
): Promise<LoadedBundle> {
  const bundle = new LoadedBundle();
  const missing = await readFiles(archive, signal, (file) => bundle.take(file));
  for (const { name, reason } of missing) bundle.miss(name, reason);
  if (!bundle.isBundle) throw notBundle(archive.path, missing.at(-1)?.reason);
  return bundle;
}

/** A part of an archive that could not be read. */
export interface NotRead {
  readonly name: string;
  readonly reason: string;
}

/**
 * Passes every acceptable file of an archive to `take`. Damage and limits only end
 * the reading.
 * @throws errors of the file system
 */
export async function readFiles(
  archive: OpenableArchive,
  signal: AbortSignal,
  take: (file: ArchivedFile) => Promise<void>,
): Promise<NotRead[]> {
  const bytes = archive.open();
  const { refused, failure } = await readArchive(decompressed(bytes), LIMITS, signal, take);
  if (failure instanceof Error && 'syscall' in failure) throw failure;
  const missing = refused.map((name) => ({
    name,
    reason: 'not a file type of a log bundle',
  }));
  if (failure === undefined) return missing;
  return [...missing, { name: 'the rest of the archive', reason: describeError(failure) }];
}

/** Loads an unpacked log bundle: the folder itself, or the only folder in it. @throws as loadArchive */
export async function loadFolder(
  path: string,
  signal: AbortSignal,
): Promise<{ bundle: LoadedBundle; folder: string }> {
  const bundle = await filesOf(path, signal);
  if (bundle.isBundle) return { bundle, folder: path };
  const [only, ...others] = await readdir(path, { withFileTypes: true });
  if (only?.isDirectory() === true && others.length === 0) {
    const folder = join(path, only.name);
    const inside = await filesOf(folder, signal);
    if (inside.isBundle) return { bundle: inside, folder };
  }
  throw notBundle(path, undefined);
}

/** Regular files only; symlinks are not followed. */
async function filesOf(path: string, signal: AbortSignal): Promise<LoadedBundle> {
  const bundle = new LoadedBundle();
  let left = LIMITS.entries;
  const visit = async (inside: string, depth: number): Promise<void> => {
    for (const entry of await readdir(join(path, inside), { withFileTypes: true })) {
      signal.throwIfAborted();
      if (left-- <= 0) return;
      const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (!isSafeName(entry.name)) bundle.miss(JSON.stringify(name), 'not a safe file name');
      else if (entry.isDirectory() && depth < MAX_DEPTH) await visit(name, depth + 1);
      else if (entry.isFile()) await takeFile(bundle, path, name);
    }
  };
  await visit('', 1);
  if (left < 0) bundle.miss('the rest of the folder', `more than ${LIMITS.entries} entries`);
  return bundle;
}

async function takeFile(bundle: LoadedBundle, folder: string, name: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    await using handle = await open(join(folder, name), flags);
    const { size, mtime: modified } = await handle.stat();
    // A growing file is read up to its current size.
    const content =
      size === 0 ? nothing() : handle.createReadStream({ end: size - 1, autoClose: false });
    await bundle.take({ name, size, modified, content });
  } catch (error) {
    bundle.miss(name, describeError(error));
  }
}

async function* nothing(): AsyncGenerator<never> {}

function notBundle(path: string, found: string | undefined): Failure {
  return new Failure('usage', `${path} is not a log bundle`, {
    expected: 'log-bundle-ID.tar.gz, or the folder that it was unpacked to',
    ...(found === undefined ? {} : { found }),
  });
}

import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import {
  exists,
  ifMissing,
  type NewFile,
  removeFile,
  writeFileAtomic,
  writeFilesAtomic,
} from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { type Damaged, type StateFile, stateFile } from '../../host/state-file.ts';
import { isSealed, KEY_BYTES, sealed, unsealed } from './envelope.ts';
import { isInSealedFolder, sealPlaces } from './places.ts';

/**
 * The one place through which keys of a host are written. On a host that is not sealed these are the functions of
 * lib/host/files.ts.
 */

/**
 * The key of the host's sealed files; undefined on a host that is not sealed.
 * @throws Failure (fatal, `seal-closed`) if a sealed host was not opened: nothing is ever written in the clear.
 */
export async function sealKey(paths: HostPaths): Promise<Buffer | undefined> {
  const places = sealPlaces(paths);
  const key = await readFile(places.key).catch(ifMissing);
  if (key?.length === KEY_BYTES) return key;
  if (key === undefined && !(await exists(places.credential))) return undefined;
  throw new Failure('fatal', "the host's keys are sealed, and were not opened at this boot", {
    code: 'seal-closed',
    subject: paths.onHost(places.key),
    fix: 'See "journalctl -u sno-unseal", then run "systemctl restart sno-unseal".',
  });
}

/** Creates a folder of the host with that mode, or changes its mode. */
export async function makeFolder(paths: HostPaths, path: string, mode: number): Promise<void> {
  const isCopied = isInSealedFolder(path) && (await sealKey(paths)) !== undefined;
  const copies = isCopied ? [copyOf(paths, path)] : [];
  for (const folder of [...copies, paths.at(path)]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, mode);
  }
}

/**
 * Replaces files of the host; `path` of each is one on the host. Each is atomic. Those in sealed folders are durable as
 * sealed copies, which are written first: what programs read is never newer than what survives a power cut.
 */
export async function writeKeptFiles(paths: HostPaths, files: readonly NewFile[]): Promise<void> {
  const inFolders = files.filter(({ path }) => isInSealedFolder(path));
  const key = inFolders.length === 0 ? undefined : await sealKey(paths);
  if (key !== undefined) {
    await writeFilesAtomic(
      inFolders.map(({ path, contents, mode }) => ({
        path: copyOf(paths, path),
        contents: sealed(key, path, contents),
        mode,
      })),
    );
  }
  await writeFilesAtomic(files.map((file) => ({ ...file, path: paths.at(file.path) })));
}

/** Deletes a file of the host, and its sealed copy first; true if one of them existed. */
export async function removeKeptFile(paths: HostPaths, path: string): Promise<boolean> {
  const hadCopy = await removeFile(copyOf(paths, path));
  return (await removeFile(paths.at(path))) || hadCopy;
}

/** Writes a file that contains keys and that only agents read: sealed where the host is. */
export async function writeSecret(paths: HostPaths, path: string, contents: string): Promise<void> {
  const key = await sealKey(paths);
  const name = paths.onHost(path);
  await writeFileAtomic(path, key === undefined ? contents : sealed(key, name, contents), 0o600);
}

/**
 * The text of such a file; undefined if it does not exist.
 *
 * @param name its path on the host when it was written, if it was moved since.
 * @throws Failure (fatal, `sealed-file-damaged`)
 */
export async function readSecret(
  paths: HostPaths,
  path: string,
  name = paths.onHost(path),
): Promise<string | undefined> {
  const bytes = await readFile(path).catch(ifMissing);
  if (bytes === undefined) return undefined;
  if (!isSealed(bytes)) return bytes.toString('utf8');
  const key = await sealKey(paths);
  const text = key === undefined ? undefined : unsealed(key, name, bytes);
  if (text !== undefined) return text.toString('utf8');
  throw damaged(paths.onHost(path));
}

/** State that contains keys: sealed where the host is. @throws Failure (fatal, `sealed-file-damaged`) when it is read */
export const secretFile = <Read, Written>(
  paths: HostPaths,
  path: string,
  schema: z.ZodType<Read, Written>,
  damaged: 'none' | Damaged,
): StateFile<Read, Written> =>
  stateFile(path, schema, {
    damaged,
    store: {
      read: (place) => readSecret(paths, place),
      write: (place, text) => writeSecret(paths, place, text),
    },
  });

/** The sealed copy of a file in a sealed folder. */
export const copyOf = (paths: HostPaths, path: string): string =>
  join(sealPlaces(paths).copies, path);

export const damaged = (path: string): Failure =>
  new Failure('fatal', `${path} cannot be opened with the key of this host`, {
    code: 'sealed-file-damaged',
    subject: path,
    expected: 'a file that this host has sealed',
    fix: 'Restore the file from a copy of this disk. Keys that are lost are replaced by a new installation.',
  });

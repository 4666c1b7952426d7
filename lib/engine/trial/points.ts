import { constants } from 'node:fs';
import { link, lstat, mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../base/errors/failure.ts';
import {
  exists,
  ifMissing,
  namesIn,
  removeFile,
  sha256,
  syncDirectory,
  writeFileAtomic,
} from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { copiesFolder, keptExecutable } from './places.ts';
import type { KeptFile, PointsOfReturn } from './trial.ts';

/** What is kept of a host before it is changed: paths on the host. */
export interface WantedPoints {
  readonly network?: { readonly files: readonly string[]; readonly folders: readonly string[] };
  readonly files?: readonly string[];
  readonly moved?: PointsOfReturn['moved'];
  readonly database?: string | undefined;
}

/** Where NetworkManager keeps what it was told: its profiles, and the global DNS set over D-Bus. */
export const networkManagerPoints = {
  files: ['/var/lib/NetworkManager/NetworkManager-intern.conf'],
  folders: ['/etc/NetworkManager/system-connections'],
} as const;

/** Keeps copies of the files, and the executable by a hard link. What an earlier attempt kept is replaced. */
export async function keepPoints(paths: HostPaths, wanted: WantedPoints): Promise<PointsOfReturn> {
  await rm(copiesFolder(paths), { recursive: true, force: true });
  await mkdir(copiesFolder(paths), { recursive: true, mode: 0o700 });
  await placeLink(paths.executable, keptExecutable(paths));
  // Of an earlier trial that could not be taken back completely.
  for (const { aside } of wanted.moved ?? []) {
    await rm(paths.at(aside), { recursive: true, force: true });
  }
  let copies = 0;
  const keepAll = async (files: readonly string[]): Promise<KeptFile[]> => {
    const kept: KeptFile[] = [];
    for (const path of files) kept.push(await keepFile(paths, path, `${copies++}`));
    return kept;
  };
  const network: PointsOfReturn['network'] = {
    files: await keepAll(wanted.network?.files ?? []),
    folders: [],
  };
  for (const path of wanted.network?.folders ?? []) {
    const names = await namesIn(paths.at(path));
    network.files.push(...(await keepAll(names.map((name) => join(path, name)))));
    network.folders.push({ path, names });
  }
  return {
    network,
    files: await keepAll(wanted.files ?? []),
    moved: [...(wanted.moved ?? [])],
    ...(wanted.database === undefined ? {} : { database: wanted.database }),
  };
}

async function keepFile(paths: HostPaths, path: string, copy: string): Promise<KeptFile> {
  const found = await lstat(paths.at(path)).catch(ifMissing);
  if (found === undefined) return { path };
  if (!found.isFile()) {
    throw new Failure('fatal', `${path} cannot be kept`, { expected: 'a regular file' });
  }
  await using file = await open(paths.at(path), constants.O_RDONLY | constants.O_NOFOLLOW);
  const contents = await file.readFile();
  await writeFileAtomic(join(copiesFolder(paths), copy), contents, 0o600);
  return { path, was: { copy, mode: found.mode & 0o7777, sha256: sha256(contents) } };
}

/** Puts files back and deletes what is new in the folders. Files that are as they were are left alone. */
export async function putBackNetwork(
  paths: HostPaths,
  { network }: PointsOfReturn,
): Promise<string[]> {
  const changed = await putBackFiles(paths, network.files);
  for (const path of await newFiles(paths, network.folders)) {
    await rm(paths.at(path), { recursive: true });
    await syncDirectory(dirname(paths.at(path)));
    changed.push(path);
  }
  return changed;
}

export const isNetworkBack = async (
  paths: HostPaths,
  { network }: PointsOfReturn,
): Promise<boolean> =>
  (await areBack(paths, network.files)) && (await newFiles(paths, network.folders)).length === 0;

async function newFiles(
  paths: HostPaths,
  folders: PointsOfReturn['network']['folders'],
): Promise<string[]> {
  const found: string[] = [];
  for (const { path, names } of folders) {
    const now = await namesIn(paths.at(path));
    found.push(...now.filter((name) => !names.includes(name)).map((name) => join(path, name)));
  }
  return found;
}

/** Puts the executable, the moved folders and the files back. Returns what was changed. */
export async function putBackRest(
  paths: HostPaths,
  { files, moved }: PointsOfReturn,
): Promise<string[]> {
  const changed: string[] = [];
  if (!(await isSameFile(keptExecutable(paths), paths.executable))) {
    await placeLink(keptExecutable(paths), paths.executable);
    changed.push(paths.onHost(paths.executable));
  }
  for (const { path, aside } of moved) {
    if (!(await exists(paths.at(aside)))) continue;
    await putAside(paths.at(path), discardedName(paths.at(path)));
    await rename(paths.at(aside), paths.at(path));
    await syncDirectory(dirname(paths.at(path)));
    await syncDirectory(dirname(paths.at(aside)));
    changed.push(path);
  }
  changed.push(...(await putBackFiles(paths, files)));
  for (const { path } of moved) {
    await rm(discardedName(paths.at(path)), { recursive: true, force: true });
    await syncDirectory(dirname(paths.at(path)));
  }
  return changed;
}

export async function isRestBack(
  paths: HostPaths,
  { files, moved }: PointsOfReturn,
): Promise<boolean> {
  for (const { path, aside } of moved) {
    if ((await exists(paths.at(aside))) || (await exists(discardedName(paths.at(path)))))
      return false;
  }
  return (
    (await isSameFile(keptExecutable(paths), paths.executable)) && (await areBack(paths, files))
  );
}

/**
 * Replaces a folder by another on the same file system, and keeps it at `aside` for a way back. Both
 * an interrupted and a completed attempt are continued.
 */
export async function replaceFolder(
  paths: HostPaths,
  { path, aside }: PointsOfReturn['moved'][number],
  next: string,
): Promise<void> {
  if (!(await exists(next))) return;
  if (!(await exists(paths.at(aside)))) await rename(paths.at(path), paths.at(aside));
  await rename(next, paths.at(path));
  for (const changed of [path, aside]) await syncDirectory(dirname(paths.at(changed)));
}

/** Deletes what was kept, except for the executable. */
export async function dropPoints(paths: HostPaths, { moved }: PointsOfReturn): Promise<void> {
  for (const { aside } of moved) await rm(paths.at(aside), { recursive: true, force: true });
  await rm(copiesFolder(paths), { recursive: true, force: true });
}

async function putBackFiles(paths: HostPaths, files: readonly KeptFile[]): Promise<string[]> {
  const changed: string[] = [];
  for (const file of files) {
    if (await isBack(paths, file)) continue;
    await putBackFile(paths, file);
    changed.push(file.path);
  }
  return changed;
}

async function putBackFile(paths: HostPaths, { path, was }: KeptFile): Promise<void> {
  if (was === undefined) {
    await removeFile(paths.at(path));
    return;
  }
  const copy = join(copiesFolder(paths), was.copy);
  await using file = await open(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
  const contents = await file.readFile();
  const found = sha256(contents);
  if (found !== was.sha256) {
    throw new Failure('fatal', `the kept copy of ${path} is damaged`, {
      expected: `SHA-256 ${was.sha256}`,
      found,
    });
  }
  await writeFileAtomic(paths.at(path), contents, was.mode);
}

async function areBack(paths: HostPaths, files: readonly KeptFile[]): Promise<boolean> {
  for (const file of files) if (!(await isBack(paths, file))) return false;
  return true;
}

async function isBack(paths: HostPaths, { path, was }: KeptFile): Promise<boolean> {
  const found = await lstat(paths.at(path)).catch(ifMissing);
  if (found === undefined || was === undefined) return found === was;
  if (!found.isFile() || (found.mode & 0o7777) !== was.mode) return false;
  await using file = await open(paths.at(path), constants.O_RDONLY | constants.O_NOFOLLOW);
  return sha256(await file.readFile()) === was.sha256;
}

/** The folder that is given up, until it is deleted. */
const discardedName = (path: string): string => `${path}.discarded`;

async function putAside(path: string, discarded: string): Promise<void> {
  if (!(await exists(path))) return;
  await rm(discarded, { recursive: true, force: true });
  await rename(path, discarded);
}

/** Gives a file a second name, atomically: both names stay on the disk after a power cut. */
export async function placeLink(file: string, name: string): Promise<void> {
  const beside = join(dirname(name), `.${basename(name)}.link`);
  await rm(beside, { force: true });
  await link(file, beside);
  await rename(beside, name);
  // rename(2) does nothing if both are names of one file.
  await unlink(beside).catch(ifMissing);
  await syncDirectory(dirname(name));
}

/** Of two names in one folder. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([lstat(one), lstat(other).catch(ifMissing)]);
  return a.ino === b?.ino;
}

import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { systemErrorCode } from '../../../lib/base/errors/system-error-code.ts';
import { isMissing } from '../../../lib/host/files.ts';

/** Called with a path that could not be read, and the reason. */
export type Failed = (path: string, reason: string) => void;

/** A file, or a folder with everything below it down to a depth. */
export interface SecretTree {
  /** With at most one `*`, for any part of a name. */
  readonly path: string;
  /** Levels to descend if it is a folder; 1: only its own entries. */
  readonly depth?: number;
  /** Names of files to read; by default all that can be text. */
  readonly only?: RegExp;
  /** Names of folders to skip. */
  readonly without?: RegExp;
}

/** Files that never contain secrets as text. */
const OTHER =
  /\.(?:crt|gz|xz|zst|tar|db|snapshot|img|so|pub|pkl|mo)$|^known_hosts|^authorized_keys|^ca-bundle/;
/** Per folder; if there are more, that is reported. */
const MAX_ENTRIES = 2000;

/**
 * Paths of the regular files in a tree, sorted by name. Links are followed only in the parent
 * folders of a path without `*`, where only root can create them.
 */
export async function* filesIn(
  tree: SecretTree,
  root: string,
  failed: Failed,
): AsyncGenerator<string> {
  for await (const path of matching(tree.path.split('/').slice(1), root, failed)) {
    const status = await statusOf(path, failed);
    if (status?.isFile() === true) yield path;
    if (status?.isDirectory() === true && tree.depth !== undefined) {
      yield* filesBelow(path, { ...tree, depth: tree.depth }, failed);
    }
  }
}

/** The regular files below a folder; links are not followed. */
export async function* filesBelow(
  folder: string,
  tree: Omit<SecretTree, 'path'> & { readonly depth: number },
  failed: Failed,
): AsyncGenerator<string> {
  const { depth, only, without } = tree;
  for (const { name, isFile, isFolder } of await entriesOf(folder, failed)) {
    const path = join(folder, name);
    if (isFile && (only?.test(name) ?? !OTHER.test(name))) yield path;
    if (isFolder && depth > 1 && without?.test(name) !== true) {
      yield* filesBelow(path, { ...tree, depth: depth - 1 }, failed);
    }
  }
}

export interface Entry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isFolder: boolean;
}

/** The entries of a folder, sorted by name; none if it does not exist or is not a folder. */
export async function entriesOf(folder: string, failed: Failed): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (entries.length >= MAX_ENTRIES) {
        failed(folder, `only ${MAX_ENTRIES} of its entries were searched for secrets`);
        break;
      }
      entries.push({ name: entry.name, isFile: entry.isFile(), isFolder: entry.isDirectory() });
    }
  } catch (error) {
    if (!isAbsent(error)) failed(folder, describeError(error));
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function* matching(
  [segment, ...rest]: readonly string[],
  base: string,
  failed: Failed,
): AsyncGenerator<string> {
  if (segment === undefined) {
    yield base;
  } else if (segment.includes('*')) {
    for (const { name, isFolder } of await entriesOf(base, failed)) {
      if (!isMatch(name, segment) || (rest.length > 0 && !isFolder)) continue;
      if (await isWithoutLinks(join(base, name), rest)) yield join(base, name, ...rest);
    }
  } else {
    yield* matching(rest, join(base, segment), failed);
  }
}

/** `pattern` contains one `*`. */
function isMatch(name: string, pattern: string): boolean {
  const [start = '', end = ''] = pattern.split('*');
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}

/** Whether all names but the last are folders, not links. */
async function isWithoutLinks(base: string, names: readonly string[]): Promise<boolean> {
  let folder = base;
  for (const name of names.slice(0, -1)) {
    folder = join(folder, name);
    if ((await statusOf(folder, () => undefined))?.isDirectory() !== true) return false;
  }
  return true;
}

async function statusOf(path: string, failed: Failed) {
  try {
    return await lstat(path);
  } catch (error) {
    if (!isAbsent(error)) failed(path, describeError(error));
    return undefined;
  }
}

/** A link is as good as nothing: it is not followed. */
const isAbsent = (error: unknown) => isMissing(error) || systemErrorCode(error) === 'ELOOP';
